// Makes each call of Clients/kotlin/Carillon.kt once, and prints what was sent and answered, a line of JSON each.
package carillon

import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpResponse
import java.time.Instant

private class Recording(private val base: String) : Transport {
    private val client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()
    var call = ""

    override fun send(request: Request): Answer {
        val body = request.body?.let { HttpRequest.BodyPublishers.ofString(it) } ?: HttpRequest.BodyPublishers.noBody()
        val built = HttpRequest.newBuilder(URI(request.url)).method(request.method, body)
        request.headers.forEach { (name, value) -> built.header(name, value) }
        val answer = client.send(built.build(), HttpResponse.BodyHandlers.ofString())
        val sent = mapOf("call" to call, "method" to request.method, "path" to request.url.removePrefix(base), "status" to answer.statusCode())
        println(Json.write(if (request.body == null) sent else sent + ("body" to Json.read(request.body))))
        return Answer(answer.statusCode(), answer.headers().map().mapValues { it.value.last() }, answer.body())
    }
}

fun main(arguments: Array<String>) {
    val (url, network, data) = arguments
    val tokens = arguments.drop(3).iterator()
    val recording = Recording("$url/v1/networks/$network")
    val carillon = Carillon(url, network, recording) { tokens.next() }
    val later = Instant.parse("2126-01-01T00:00:00Z")
    val channel = carillon.channel("a/b ä")

    fun check(fact: Boolean, what: String) = check(fact) { "${recording.call}: $what" }
    fun calling(name: String, act: () -> Unit) {
        recording.call = name
        act()
    }

    // The first token has ended: the call is made once more with the next one.
    calling("register") {
        val device = carillon.register("phone 1", "fcm-token", "com.acme.chat", "th-TH")
        check(device.userId == "bob" && device.state == "active" && device.locale == "th-TH", "the device")
    }
    calling("registerInUsersLanguage") { check(carillon.register("phone 1", "fcm-token", "com.acme.chat", null).locale == null, "locale") }
    calling("devices") { check(carillon.devices().map { it.id } == listOf("phone 1"), "devices") }
    calling("settings") { carillon.settings().run { check(enabled && updatedAt == null && modules["chat"] == true, "defaults") } }
    calling("setEnabled") { check(!carillon.setEnabled(false).enabled, "enabled") }
    calling("setModule") { check(carillon.setModule("chat", false).modules["chat"] == false, "modules") }
    calling("mute") { check(carillon.mute(later).mutedUntil == later, "mutedUntil") }
    calling("unmute") { check(carillon.mute(null).mutedUntil == null, "mutedUntil") }
    calling("setQuietHours") {
        val hours = QuietHours("22:00", "07:00", "Asia/Bangkok")
        check(carillon.setQuietHours(hours).quietHours == hours, "quietHours")
    }
    calling("channelSettings") { channel.settings().run { check(enabled && !mentionsOnly, "defaults") } }
    calling("channelEnabled") { check(channel.setEnabled(true).enabled, "enabled") }
    calling("channelMentionsOnly") { check(channel.setMentionsOnly(true).mentionsOnly, "mentionsOnly") }
    calling("channelMute") { check(channel.mute(later).mutedUntil == later, "mutedUntil") }
    calling("signOut") { carillon.signOut("phone 1") }

    recording.call = "refused"
    val refusal = try {
        Carillon(url, "nowhere", recording) { "none" }.settings()
        null
    } catch (error: CarillonException) {
        error
    }
    check(refusal?.status == 401 && refusal.code == "unauthorized" && refusal.requestId != null && !refusal.isTransient, "refusal")

    // What FCM hands to the app, as the simulator got it.
    recording.call = "arrives"
    @Suppress("UNCHECKED_CAST")
    val notification = checkNotNull(CarillonNotification.from(Json.read(data) as Map<String, String?>))
    check(notification.channelId == "general" && notification.eventType == "message.sent", "ids")
    check(notification.category == NotificationCategory.MESSAGES && notification.id != null, "what Android is told")
    check(CarillonNotification.from(mapOf("from" to "somebody else")) == null, "others' messages")
    check(Json.read("{\"a\":[1,-2.5e3,\"\\u00e4\\n\\\"\",{}],\"b\":[]} ") == mapOf("a" to listOf(1.0, -2500.0, "ä\n\"", mapOf<String, Any?>()), "b" to listOf<Any?>()), "JSON")
    check(listOf("", "{", "[1", "{\"a\"}", "nul", "{} {}").all { Json.read(it) == null }, "no JSON")
}
