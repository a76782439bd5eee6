/*
 * Carillon in an Android app, in one file without dependencies: copy it into the app. It registers FCM's token, reads and sets
 * what the user wants to be told, and reads what arrives. Nothing in it is Android's, so that it also runs in tests on a JVM.
 *
 * Calls block: make them where waiting is allowed, such as in `withContext(Dispatchers.IO)`. Times are `java.time`'s, for which
 * apps that support Android 7 and older switch on core library desugaring.
 */
package carillon

import java.io.IOException
import java.net.HttpURLConnection
import java.net.URL
import java.net.URLEncoder
import java.time.Instant
import java.util.Locale

/**
 * One network of a service, for one signed-in user.
 *
 * @param url where the service is.
 * @param token asked for a user token, made by your back end, when one is needed first and again when the service has refused
 *   the last one.
 */
class Carillon(
    url: String,
    network: String,
    private val transport: Transport = HttpTransport(),
    private val pause: (Long) -> Unit = { Thread.sleep(it) },
    private val token: () -> String,
) {
    private val base = url.trimEnd('/') + "/v1/networks/" + segment(network)
    private var currentToken: String? = null

    /**
     * Says that this phone belongs to the signed-in user from now on, and to nobody else.
     *
     * Call it at each start and in `onNewToken`: tokens change, and the service learns by it that the app is still in use.
     *
     * @param device the id of this installation, made once and kept, such as a random UUID.
     * @param fcmToken what `FirebaseMessaging.getInstance().token` answers.
     * @param appId the app whose service account the network has stored.
     * @param locale the language for this phone; with null the user's own.
     */
    fun register(device: String, fcmToken: String, appId: String, locale: String? = language()): Device =
        Device(call(Route.REGISTER, device, mapOf("provider" to "fcm", "token" to fcmToken, "appId" to appId, "locale" to locale)))

    /** This phone gets nothing more, if it belongs to the user. */
    fun unregister(device: String) {
        call(Route.UNREGISTER, device)
    }

    /** What is to be done before the user's session ends. Take what is shown off the screen as well: `cancelAll()`. */
    fun signOut(device: String) {
        try {
            unregister(device)
        } finally {
            forgetToken()
        }
    }

    fun forgetToken() {
        synchronized(this) { currentToken = null }
    }

    /** All devices of the user. */
    fun devices(): List<Device> =
        (call(Route.DEVICES)["items"] as? List<*>).orEmpty().mapNotNull { it.asObject() }.map(::Device)

    /** What the user has chosen for everything. */
    fun settings(): UserSettings = UserSettings(call(Route.SETTINGS))

    /** Lets everything through, or nothing. */
    fun setEnabled(enabled: Boolean): UserSettings = change("enabled" to enabled)

    /** Lets a module through or not: `chat`, `social`, `video` or `direct`. */
    fun setModule(name: String, enabled: Boolean): UserSettings = change("modules" to mapOf(name to mapOf("enabled" to enabled)))

    /** Nothing until then; null ends it. */
    fun mute(until: Instant?): UserSettings = change("mutedUntil" to until?.toString())

    /** Nothing at these times of each day; null ends it. */
    fun setQuietHours(hours: QuietHours?): UserSettings = change(
        "quietHours" to hours?.let { mapOf("from" to it.from, "to" to it.to, "timeZone" to it.timeZone) }
    )

    /** What the user has chosen for a channel. */
    fun channel(id: String) = Channel(id)

    private fun change(vararg settings: Pair<String, Any?>) = UserSettings(call(Route.CHANGE_SETTINGS, body = mapOf(*settings)))

    inner class Channel internal constructor(private val id: String) {
        fun settings() = ChannelSettings(call(Route.CHANNEL, id))

        fun setEnabled(enabled: Boolean) = change("enabled" to enabled)

        /** Only messages that mention the user. */
        fun setMentionsOnly(mentionsOnly: Boolean) = change("mentionsOnly" to mentionsOnly)

        /** Nothing until then; null ends it. */
        fun mute(until: Instant?) = change("mutedUntil" to until?.toString())

        private fun change(vararg settings: Pair<String, Any?>) =
            ChannelSettings(call(Route.CHANGE_CHANNEL, id, mapOf(*settings)))
    }

    /** What the service is asked. */
    private enum class Route(val method: String, val path: String) {
        REGISTER("PUT", "/devices/{id}"),
        UNREGISTER("DELETE", "/devices/{id}"),
        DEVICES("GET", "/users/me/devices"),
        SETTINGS("GET", "/users/me/notifications"),
        CHANGE_SETTINGS("PATCH", "/users/me/notifications"),
        CHANNEL("GET", "/users/me/channels/{id}/notifications"),
        CHANGE_CHANNEL("PATCH", "/users/me/channels/{id}/notifications"),
    }

    /** Asks until there is an answer that says something: all that this class asks for can be done twice. */
    private fun call(route: Route, id: String = "", body: Map<String, Any?>? = null): Map<String, Any?> {
        val end = System.nanoTime() + CALL_MS * 1_000_000
        var isRenewed = false
        var attempt = 1
        while (true) {
            val error = try {
                return attempt(route, id, body)
            } catch (error: CarillonException) {
                error
            }
            if (error.status == 401 && !isRenewed) {
                isRenewed = true
                forgetToken()
                continue
            }
            val wait = error.retryAfterMs ?: (250L shl attempt)
            if (!error.isTransient || attempt >= ATTEMPTS || System.nanoTime() + wait * 1_000_000 > end) throw error
            pause(wait)
            attempt += 1
        }
    }

    private fun attempt(route: Route, id: String, body: Map<String, Any?>?): Map<String, Any?> {
        val bearer = synchronized(this) { currentToken } ?: token().also { synchronized(this) { currentToken = it } }
        val headers = mutableMapOf("authorization" to "Bearer $bearer")
        if (body != null) headers["content-type"] = "application/json"
        val answer = try {
            transport.send(Request(route.method, base + route.path.replace("{id}", segment(id)), headers, body?.let(Json::write)))
        } catch (cause: IOException) {
            throw CarillonException(null, "the service cannot be reached", null, null, cause)
        }
        val document = (Json.read(answer.body)).asObject()
        if (answer.status in 200..299) return document.orEmpty()
        val said = document?.get("detail") ?: document?.get("title") ?: "status ${answer.status}"
        throw CarillonException(answer.status, said.toString(), document, answer.headers)
    }

    private companion object {
        const val CALL_MS = 30_000L
        const val ATTEMPTS = 4

        /** The user's language, without the preferences of a region (`-u-…`): with them it is longer than a tag may be. */
        fun language(): String = Locale.getDefault().toLanguageTag().substringBefore("-u-")

        fun segment(text: String): String = URLEncoder.encode(text, "UTF-8").replace("+", "%20")
    }
}

/** Why a call failed: the service's own words, or that it cannot be reached (`status` is null). */
class CarillonException internal constructor(
    val status: Int?,
    message: String,
    /** The RFC 9457 problem document. */
    val problem: Map<String, Any?>?,
    headers: Map<String, String>?,
    cause: Throwable? = null,
) : Exception(message, cause) {
    /** The last part of the problem's type, such as `not-found`. */
    val code: String? = (problem?.get("type") as? String)?.substringAfterLast('/')

    /** By which the service's operator finds the request. */
    val requestId: String? = headers?.get("x-request-id")

    /** Whether the same may work later. */
    val isTransient = status == null || status in listOf(408, 429, 502, 503, 504)

    internal val retryAfterMs: Long? = headers?.get("retry-after")?.toLongOrNull()?.let { it * 1000 }
}

class Device internal constructor(json: Map<String, Any?>) {
    val id = json["id"] as String
    val userId = json["userId"] as? String
    val provider = json["provider"] as? String
    val appId = json["appId"] as? String
    val locale = json["locale"] as? String
    /** `active`, `quarantined` or `unregistered`; others may come. */
    val state = json["state"] as? String
    /** What its push service last complained of. */
    val error = json["error"] as? String
}

/** `from` (inclusive) and `to` (exclusive) are `HH:mm`, `timeZone` is IANA's name. */
data class QuietHours(val from: String, val to: String, val timeZone: String)

class UserSettings internal constructor(json: Map<String, Any?>) {
    val enabled = json["enabled"] != false
    /** Which modules are let through. */
    val modules: Map<String, Boolean> =
        json["modules"].asObject().orEmpty().mapValues { (_, module) -> module.asObject()?.get("enabled") != false }
    val mutedUntil = (json["mutedUntil"] as? String)?.let(Instant::parse)
    val quietHours = json["quietHours"].asObject()?.let {
        QuietHours(it["from"].toString(), it["to"].toString(), it["timeZone"].toString())
    }
    /** Null where the user has never chosen anything. */
    val updatedAt = (json["updatedAt"] as? String)?.let(Instant::parse)
}

class ChannelSettings internal constructor(json: Map<String, Any?>) {
    val enabled = json["enabled"] != false
    val mentionsOnly = json["mentionsOnly"] == true
    val mutedUntil = (json["mutedUntil"] as? String)?.let(Instant::parse)
    val updatedAt = (json["updatedAt"] as? String)?.let(Instant::parse)
}

/**
 * What a push carries: FCM's `data`, in `onMessageReceived` while the app is in front, and as extras of the intent that a tapped
 * notification starts the app with.
 */
class CarillonNotification private constructor(val data: Map<String, String>) {
    /** The same on every copy: `notify(id, 0, …)` replaces what is shown already, as FCM itself does. */
    val id: String? get() = data["notificationId"]
    val eventId: String? get() = data["eventId"]
    /** `channel.created`, `channel.invited`, `member.joined`, `message.sent`, `notification.direct`; others may come. */
    val eventType: String? get() = data["eventType"]
    val networkId: String? get() = data["networkId"]
    /** What is to be opened, and what `setGroup` takes. */
    val channelId: String? get() = data["channelId"]
    val messageId: String? get() = data["messageId"]
    val senderId: String? get() = data["senderId"]

    /** In which of Android's channels it belongs. */
    val category: NotificationCategory
        get() = NotificationCategory.values().firstOrNull { eventType in it.eventTypes } ?: NotificationCategory.OTHER

    companion object {
        /** The notification in what arrived, or null where it is none of Carillon's. */
        fun from(data: Map<String, String?>): CarillonNotification? {
            val known = data.mapNotNull { (key, value) -> value?.let { key to it } }.toMap()
            return if ("eventId" in known && "networkId" in known) CarillonNotification(known) else null
        }
    }
}

/**
 * Android's notification channels, one for what people want to switch apart. Make them at each start:
 *
 *     for (each in NotificationCategory.values()) {
 *         manager.createNotificationChannel(NotificationChannel(each.id, getString(…), each.importance))
 *     }
 *
 * and name `messages` in the manifest as `com.google.firebase.messaging.default_notification_channel_id`: FCM puts what it shows by
 * itself, while the app is not in front, into that one.
 */
enum class NotificationCategory(val id: String, val importance: Int, val eventTypes: Set<String>) {
    /** `NotificationManager.IMPORTANCE_HIGH`. */
    MESSAGES("messages", 4, setOf("message.sent")),
    /** `NotificationManager.IMPORTANCE_DEFAULT`. */
    MEMBERS("members", 3, setOf("member.joined", "channel.created", "channel.invited")),
    OTHER("other", 3, setOf()),
}

class Request(val method: String, val url: String, val headers: Map<String, String>, val body: String?)

/** Names of headers are in lower case. */
class Answer(val status: Int, val headers: Map<String, String>, val body: String)

/** What carries requests: replace it for another client, or in tests. */
fun interface Transport {
    /** Throws [IOException] where nobody answers. */
    fun send(request: Request): Answer
}

/** The platform's own. Android's knows PATCH; that of desktop Java does not. Redirects are not followed. */
class HttpTransport(private val timeoutMs: Int = 10_000) : Transport {
    override fun send(request: Request): Answer {
        val connection = URL(request.url).openConnection() as HttpURLConnection
        try {
            connection.requestMethod = request.method
            connection.connectTimeout = timeoutMs
            connection.readTimeout = timeoutMs
            connection.instanceFollowRedirects = false
            request.headers.forEach { (name, value) -> connection.setRequestProperty(name, value) }
            if (request.body != null) {
                connection.doOutput = true
                connection.outputStream.use { it.write(request.body.toByteArray()) }
            }
            val status = connection.responseCode
            val stream = if (status < 400) connection.inputStream else connection.errorStream
            val headers = connection.headerFields.filterKeys { it != null }
                .map { (name, values) -> name.lowercase() to values.last() }.toMap()
            return Answer(status, headers, stream?.use { it.readBytes().decodeToString() }.orEmpty())
        } finally {
            connection.disconnect()
        }
    }
}

@Suppress("UNCHECKED_CAST")
private fun Any?.asObject(): Map<String, Any?>? = this as? Map<String, Any?>

/** As much of JSON as the service speaks: the platform's own is missing in tests on a JVM. */
internal object Json {
    fun write(value: Any?): String = when (value) {
        null -> "null"
        is Map<*, *> -> value.entries.joinToString(",", "{", "}") { (key, each) -> write(key.toString()) + ":" + write(each) }
        is Boolean, is Number -> value.toString()
        else -> value.toString().map(::escaped).joinToString("", "\"", "\"")
    }

    private fun escaped(character: Char): String = when {
        character == '"' || character == '\\' -> "\\$character"
        character < ' ' || character.isSurrogate() || character in '\u2028'..'\u2029' -> "\\u%04x".format(Locale.ROOT, character.code)
        else -> character.toString()
    }

    /** The value, or null for what is no JSON. */
    fun read(text: String): Any? = try {
        Reader(text).whole()
    } catch (error: RuntimeException) {
        null
    }

    private class Reader(private val text: String) {
        private var at = 0

        fun whole(): Any? = value().also { require(next() == null) }

        /** The next character that is no white space, which is not taken. */
        private fun next(): Char? {
            while (at < text.length && text[at].isWhitespace()) at += 1
            return text.getOrNull(at)
        }

        private fun take(expected: Char) {
            require(next() == expected)
            at += 1
        }

        private fun value(): Any? = when (next()) {
            '{' -> members()
            '[' -> elements()
            '"' -> string()
            else -> literal()
        }

        private fun members(): Map<String, Any?> {
            val found = linkedMapOf<String, Any?>()
            list('{', '}') {
                val key = string()
                take(':')
                found[key] = value()
            }
            return found
        }

        private fun elements(): List<Any?> {
            val found = mutableListOf<Any?>()
            list('[', ']') { found += value() }
            return found
        }

        private fun list(open: Char, close: Char, element: () -> Unit) {
            take(open)
            while (next() != close) {
                element()
                if (next() != close) take(',')
            }
            take(close)
        }

        private fun string(): String {
            take('"')
            val found = StringBuilder()
            while (text[at] != '"') {
                val character = text[at++]
                found.append(if (character == '\\') unescaped() else character)
            }
            at += 1
            return found.toString()
        }

        private fun unescaped(): Char = when (val character = text[at++]) {
            'u' -> text.substring(at, at + 4).toInt(16).toChar().also { at += 4 }
            'n' -> '\n'
            't' -> '\t'
            'r' -> '\r'
            'b' -> '\b'
            'f' -> '\u000c'
            else -> character
        }

        private fun literal(): Any? {
            val start = at
            while (at < text.length && text[at] !in ",]} \t\r\n") at += 1
            return when (val word = text.substring(start, at)) {
                "true" -> true
                "false" -> false
                "null" -> null
                else -> word.toDouble()
            }
        }
    }
}
