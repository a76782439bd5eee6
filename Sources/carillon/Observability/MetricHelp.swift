/// What each metric means, for the HELP lines.
enum MetricHelp {
    /// The texts by the metrics' names.
    static let texts = [
        "carillon_brakes": "Lanes whose brake on reports of dead devices is on, by provider.",
        "carillon_build_info": "Always 1; the version is in the label.",
        "carillon_clock_skew_seconds":
            "How far this machine's clock is behind PostgreSQL's; negative where it is ahead.",
        "carillon_deliveries_total": "Devices by provider and by what became of their notification.",
        "carillon_events_total": "Posted events by what the sender was told; refused is a 503.",
        "carillon_expansion_failures_total": "Tries to find an event's recipients that failed; it is tried again.",
        "carillon_face_requests_total": "Requests of other systems' clients and servers by operation and status.",
        "carillon_group_commit_size": "Events that were made durable by one commit.",
        "carillon_held_unregistrations_total": "Reports of dead devices that the brake did not believe.",
        "carillon_http_connections": "Connections to each port that have a place.",
        "carillon_http_connections_cut_total": "Connections that were closed or not let in, by reason.",
        "carillon_http_connections_max": "Connections to each port that have a place at most.",
        "carillon_http_request_duration_seconds": "Time from a request's headers to the beginning of its answer.",
        "carillon_http_requests_total": "Answered requests by route, method and status.",
        "carillon_interception_seconds": "Time that endpoints took to answer before notifications were sent.",
        "carillon_interceptions_total":
            "Events by what came of asking an endpoint, and by what became of their notification.",
        "carillon_lanes": "Lanes in use or paused, by provider and by the state of their circuit.",
        "carillon_log_lines_dropped_total": "Lines of the log that were dropped because nobody read them.",
        "carillon_lost_leases_total": "Events and deliveries that another replica took over.",
        "carillon_master_key_previous": "1 while a former master key is configured: its rotation is not finished.",
        "carillon_metric_series_dropped_total": "Label combinations that were too many to be kept.",
        "carillon_postgres_connections": "Connections to PostgreSQL by what they do.",
        "carillon_postgres_wait_seconds": "Time that callers waited for a connection to PostgreSQL.",
        "carillon_postgres_waiting": "Callers that wait for a connection to PostgreSQL now.",
        "carillon_queue_age_seconds": "How long the event or delivery that waits longest has been due.",
        "carillon_ready": "1 while the service can work, as /health/ready says.",
        "carillon_recipients_total": "Users whom events concerned, by verdict and by the level that suppressed.",
        "carillon_relay_age_seconds": "How old events were when an endpoint had taken them, replays not counted.",
        "carillon_relay_total": "Messages to endpoints by what became of them; each try again counts as retry.",
        "carillon_stale_settles_total": "Outcomes that were not written because another replica had the delivery.",
        "carillon_waiting_events": "Accepted events in memory that wait to be expanded.",
        "carillon_waiting_groups": "Delivery groups in memory that wait or are being sent.",
        "process_max_fds": "The most file descriptors that may be open.",
        "process_open_fds": "Open file descriptors.",
        "process_resident_memory_bytes": "Resident memory.",
        "process_start_time_seconds": "When the process started, in seconds since 1970.",
    ]
}
