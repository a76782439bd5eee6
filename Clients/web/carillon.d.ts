/** What went wrong: one of this module's own, or the last part of the service's problem type, such as `not-found`. */
export type CarillonErrorCode =
  | "insecure"
  | "no-workers"
  | "no-push"
  | "denied"
  | "dismissed"
  | "worker"
  | "worker-late"
  | "subscription-denied"
  | "subscription"
  | "no-answer"
  | "refused"
  | (string & {});

/** An RFC 9457 problem document. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail?: string;
  errors?: { pointer: string; detail: string }[];
  [member: string]: unknown;
}

export class CarillonError extends Error {
  readonly code: CarillonErrorCode;
  /** The status that the service answered; null where it was not asked. */
  readonly status: number | null;
  readonly problem: Problem | null;
  /** By which the service's operator finds the request. */
  readonly requestId: string | null;
  /** Seconds that the service asks to wait. */
  readonly retryAfter: number | null;
}

export interface Options {
  /** Where the service is; the page's own origin unless it is said. */
  url?: string | URL;
  network: string;
  /** Answers a user token, made by your back end. */
  token: () => string | Promise<string>;
}

export interface RegisterOptions {
  /** The address of your service worker, a module that calls `showPushes`. */
  worker: string | URL;
  /** What the worker is for; the folder that it lies in unless it is said. */
  scope?: string;
  /** The network's public key; the service is asked for it unless it is given. */
  key?: string;
  /** The language that this browser is told in. */
  locale?: string;
}

export interface Device {
  id: string;
  userId: string | null;
  provider: string;
  appId?: string | null;
  locale: string | null;
  broadcasts: boolean;
  state: "active" | "quarantined" | "unregistered" | (string & {});
  error: string | null;
  registeredAt: string;
  lastSeenAt: string;
  [member: string]: unknown;
}

export interface ModuleSettings {
  enabled: boolean;
  /** Whose acts count, by their roles. */
  roles?: { only: string[] } | { except: string[] } | null;
}

export interface QuietHours {
  /** `22:00`, inclusive. */
  from: string;
  /** `07:00`, exclusive. */
  to: string;
  /** An IANA name, such as `Asia/Bangkok`. */
  timeZone: string;
}

export interface UserSettings {
  enabled: boolean;
  modules: Record<string, ModuleSettings>;
  mutedUntil: string | null;
  quietHours: QuietHours | null;
  updatedAt: string | null;
}

export interface ChannelSettings {
  enabled: boolean;
  mentionsOnly: boolean;
  mutedUntil: string | null;
  updatedAt: string | null;
}

/** What is named is changed; null takes a choice back. */
export type Patch<T> = { [K in keyof T]?: T[K] extends object | null ? Patch<NonNullable<T[K]>> | null : T[K] | null };

/** What a push carries: the ids, the data that was added to it, and its text. */
export interface Notification {
  title: string;
  body: string;
  eventId?: string;
  eventType?: "channel.created" | "channel.invited" | "member.joined" | "message.sent" | "notification.direct" | (string & {});
  networkId?: string;
  channelId?: string;
  messageId?: string;
  senderId?: string;
  notificationId?: string;
  badge?: number;
  [data: string]: unknown;
}

export class Carillon {
  constructor(options: Options);
  readonly network: string;
  register(options: RegisterOptions): Promise<Device>;
  isRegistered(scope?: string): Promise<boolean>;
  unregister(scope?: string): Promise<void>;
  signOut(scope?: string): Promise<void>;
  forgetToken(): void;
  devices(): Promise<Device[]>;
  settings(): Promise<UserSettings>;
  change(settings: Patch<Omit<UserSettings, "updatedAt">>): Promise<UserSettings>;
  channel(id: string): Channel;
}

export interface Channel {
  settings(): Promise<ChannelSettings>;
  change(settings: Patch<Omit<ChannelSettings, "updatedAt">>): Promise<ChannelSettings>;
  mute(until: Date): Promise<ChannelSettings>;
  unmute(): Promise<ChannelSettings>;
}

export interface WorkerOptions {
  /** The title of what has none. */
  title?: string;
  icon?: string;
  badge?: string;
  /** What shares one place on the screen; null for what has one of its own. */
  group?: (notification: Notification) => string | null | undefined;
  /** Changes what is shown; `count` is how many are in the group. */
  compose?: (notification: Notification, count: number) => (NotificationOptions & { title?: string }) | undefined;
  /** The page that shows it, from the worker's scope; `current` is the one that is open. */
  address?: (notification: Notification, current: string | undefined) => string | URL | undefined;
}

export function showPushes(options?: WorkerOptions): void;
export function onShown(handler: (notification: Notification) => void): () => void;
export function onTap(handler: (notification: Notification) => void): () => void;
export function clear(which?: { network?: string; channel?: string; scope?: string }): Promise<void>;

export function requireAbility(): void;
export function requirePermission(): Promise<void>;
export function startWorker(url: string | URL, scope?: string): Promise<ServiceWorkerRegistration>;
export function subscribe(registration: ServiceWorkerRegistration, publicKey: string): Promise<PushSubscription>;
export function subscribed(scope?: string, publicKey?: string | null): Promise<PushSubscription | null>;
export function deviceId(subscription: PushSubscription, prefix?: string): Promise<string>;
