"""A network as it may look after a while: people, channels, devices that work and devices that do not."""

import datetime
import json
import pathlib

PEOPLE = [
    ("alice", "Alice Novak", "en"), ("bob", "Bob Adeyemi", "en"), ("carol", "Carol Jensen", "en"),
    ("dao", "ดาว ศรีสุข", "th-TH"), ("emre", "Emre Yılmaz", "en"), ("fatima", "فاطمة الزهراء", "ar"),
    ("giulia", "Giulia Conti", "en"), ("haruto", "佐藤 陽翔", "ja"), ("ines", "Inês Carvalho", "pt-BR"),
    ("jonas", "Jonas Weber", "de"), ("kofi", "Kofi Mensah", "en"), ("lena", "Lena Sørensen", "en"),
]
CHANNELS = [
    ("general", "General", [person for person, _, _ in PEOPLE]),
    ("design", "Design", ["alice", "carol", "giulia", "haruto", "lena"]),
    ("on-call", "On call", ["bob", "emre", "jonas", "kofi"]),
    ("bangkok", "สำนักงานกรุงเทพ", ["dao", "alice", "haruto", "fatima"]),
]
MESSAGES = [
    ("alice", "general", "Morning all: the release is at three"), ("bob", "on-call", "Disk alert on db-2, looking"),
    ("giulia", "design", "New icons are in the shared folder"), ("dao", "bangkok", "วันนี้ประชุมบ่ายสองนะคะ"),
    ("jonas", "on-call", "It was the log rotation. Fixed"), ("carol", "design", "The dark theme needs another look"),
    ("kofi", "general", "Lunch?"), ("fatima", "bangkok", "سأتأخر قليلا"), ("haruto", "design", "確認しました"),
    ("lena", "general", "Notes of Monday are in the wiki"),
]
# What the simulator refuses as a mistake in the message, so that it becomes a dead letter: docs/simulator.md.
REFUSED = "fa1140011"
GONE = "fa1141002"


def directory():
    for person, name, locale in PEOPLE:
        yield {"user": {"id": person, "displayName": name, "locale": locale}}
    for channel, name, members in CHANNELS:
        yield {"channel": {"id": channel, "displayName": name}}
        for person in members:
            yield {"member": {"channelId": channel, "userId": person}}


def devices():
    for number, (person, _, locale) in enumerate(PEOPLE):
        token = f"{number + 1:064x}"
        if person == "ines":
            token = REFUSED + token[len(REFUSED):]
        if person == "lena":
            token = GONE + token[len(GONE):]
        phone = {"userId": person, "appId": "com.example.chat"}
        if number % 3 == 1:
            phone |= {"provider": "fcm", "token": f"android-{token}"}
        else:
            phone |= {"provider": "apns", "environment": "production", "token": token}
        yield {"device": {"id": f"{person}-phone", "locale": locale} | phone}
        if number % 4 == 0:
            yield {"device": {"id": f"{person}-desk", "userId": person, "provider": "log"}}


def credentials(network, simulator):
    """Lets a network send to the simulator."""
    for path, file in simulator.credentials.items():
        network.put(*path.split("/"), body=json.loads(pathlib.Path(file).read_text()))


def fill(stage, network, messages=len(MESSAGES)):
    """Fills a network by the API; answers the id of its last event."""
    credentials(network, stage.simulator)
    network.load(*directory(), *devices())
    quiet = {"from": "22:00", "to": "07:00", "timeZone": "Europe/Copenhagen"}
    network.put("users", "carol", "notifications", body={"quietHours": quiet})
    network.put("users", "emre", "notifications", body={"modules": {"chat": {"enabled": False}}})
    network.put("users", "giulia", "channels", "general", "notifications", body={"mentionsOnly": True})
    morning = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=1)).strftime("%Y-%m-%dT06:00:00Z")
    network.put("users", "jonas", "channels", "on-call", "notifications", body={"mutedUntil": morning})
    network.put("notifications", body={"events": {"member.joined": {"enabled": False}}})
    for role, label in [("events", "Chat back end"), ("device", "iOS and Android apps"), ("notify", "Build server")]:
        network.post("api-keys", body={"role": role, "label": label})
    for kind, description in [("observe", "Archive"), ("intercept", "Moderation")]:
        events = ["*"] if kind == "observe" else ["notification.direct"]
        network.post("endpoints", body={"url": stage.receiver.url, "mode": kind, "events": events, "description": description})
    network.put("tags", "beta", body={"description": "Early birds", "selfService": True})
    for person in ("alice", "bob"):
        network.put("tags", "beta", "users", person, body={})
    network.put("sources", "crm", body={"url": stage.receiver.url, "intervalSeconds": 3600})
    ably = {"ios": {"appId": "com.example.chat"}, "android": {"appId": "com.example.chat"}, "namespaces": {"chat": {"push": True}}}
    stage.service.call("PUT", network.path("faces", "ably", f"{network.id}-app"), ably)
    key = {"name": f"{network.id}-app.phones", "label": "iOS and Android apps", "rights": {"chat:*": ["push-subscribe", "publish"]}}
    network.post("faces", "ably", "keys", body=key)
    template = {"title": "%1s ใน %2s", "body": {"text": "%s", "image": "ส่งรูปภาพ", "other": "ข้อความพิเศษ"}}
    network.put("templates", "message.sent", "th", body=template)
    last = None
    for number in range(messages):
        user, channel, text = MESSAGES[number % len(MESSAGES)]
        last = network.say(text, channel=channel, user=user)
    network.post("events", body={
        "id": "joined", "type": "member.joined",
        "data": {"channel": {"id": "design"}, "members": [{"id": "kofi"}], "user": {"id": "alice"}},
    })
    network.finished(last)
    return last
