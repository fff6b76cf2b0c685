// The source table of CozieCatalogue: the fields of Cozie 3. Data, to be read and edited by people.
// Tests compare it with the tables in Cozie's documentation.
//
// Sources: the Cozie documentation's two pages "Data Overview"; cozie-apple 8c88818 (what the app
// sends), cozie-apple-backend e29a13c (what the backend adds and which types it forces), coziepy
// 0.0.23 (names of version 2). Types follow what the app sends. HealthKit returns doubles and the
// app sends them, so they are floats, even where the documentation or the backend's lists say
// Integer and truncate. Integers are counts and settings.
//
// A field is a line with seven columns, separated by two or more blanks, and indented lines below:
//
//   name        one * matches any characters
//   type        float, integer, string, boolean; time is the time of the row, not a field
//   unit        - if it has none
//   rate        when it is sent: * the phone's app is opened or used, ** a survey is submitted,
//               *** the phone has moved; row: with every row; sync: a sync button is pressed;
//               push: a notification arrives or is answered; never: documented, but never sent
//   every       how often it is measured; - if unknown or irregular
//   device      the device that sends it: iphone, watch, both; server: the backend adds it;
//               study: a study wrote it
//   beside      the companions that the backend adds; - if none. text: <name>_lambda (arrival
//               time as text) and <name>_trigger. ms: since August 2025 <name>_lambda_ms instead
//               of <name>_lambda
//
//   text        the meaning
//   v2:         its names in version 2
//   was:        other former names
//   documented as:  type or rate in the documentation, if different

enum CozieTable {
    static let text = #"""
        name                                     type     unit       rate   every   device  beside

        # The row: when, who, why
        time                                     time     -          row    -       both    -
            When the sample was taken, or the survey submitted; every row has it.
            v2: timestamp_end
        index                                    time     -          row    -       both    -
            The name of time in files of the researcher API.
            v2: timestamp_end
        transmit_trigger                         string   -          row    -       both    -
            What made the app send the row, such as background_task or watch_survey; empty where
            the app did not say.
        timestamp_lambda                         string   -          row    -       server  -
            When the backend stored the row, UTC. Overwritten where another row of the same time
            came later.
            v2: timestamp_lambda
        timestamp_lambda_ms                      float    ms         row    -       server  -
            When the backend stored the row, since 1970 UTC; in place of timestamp_lambda since
            August 2025.
        location_change                          boolean  -          ***    -       iphone  -
            The row was sent because the phone had moved (10 m unless set otherwise).
        cycles_valid                             float    -          row    -       study   -
            Written by a study of its own accord, not by the app: valid cycles of its control
            loop.

        # id_: who
        id_experiment                            string   -          row    -       both    -
            The experiment; in InfluxDB the name of the measurement.
            v2: id_experiment
        id_participant                           string   -          row    -       both    -
            The participant; a tag.
            v2: id_participant
        id_onesignal                             string   -          row    -       both    -
            OneSignal player of the phone, to send it notifications; a tag, at times a field as
            well.
            v2: id_one_signal
        id_password                              string   -          row    -       both    -
            Password of the participant, in each row; a tag.
        id_device                                string   -          row    -       both    -
            The device that sent the row; a tag of early versions.

        # ts_: measured by phone and watch, sent by the phone
        ts_heart_rate                            float    count/min  *      3-6min  iphone  text,ms
            Heart rate.
            v2: ts_heartRate, heart_rate
            documented as: Integer
        ts_resting_heart_rate                    float    count/min  *      1d      iphone  text
            Resting heart rate of a day.
            v2: ts_restingHeartRate
            documented as: Integer
        ts_HRV                                   float    ms         *      15min   iphone  text
            Heart rate variability: standard deviation of the intervals between beats (SDNN).
            documented as: Integer
        ts_oxygen_saturation                     float    %          *      1h      iphone  text
            Oxygen saturation of the blood.
            v2: ts_oxygenSaturation
            documented as: Integer, **
        ts_wrist_temperature                     float    degC       *      1d      iphone  text
            Temperature of the wrist during sleep.
            documented as: Integer
        ts_audio_exposure_environment            float    dB(A)      *      30min   iphone  text
            Sound level of the surroundings.
            v2: ts_hearingEnvironmentalExposure, sound_pressure
            documented as: Integer
        ts_audio_exposure_headphones             float    dB(A)      *      30s     iphone  text
            Sound level of the headphones.
        ts_stand_time                            float    s          *      -       iphone  text
            Time stood. Seconds, though the older documentation supposes minutes.
            v2: ts_standTime
            documented as: Integer
        ts_exercise_time                         float    min        *      -       iphone  text
            Minutes of movement at least as brisk as a brisk walk.
            documented as: Integer
        ts_move_time                             float    min        *      -       iphone  -
            Minutes of movement.
        ts_active_energy_burned                  float    kcal       *      -       iphone  text
            Energy of activity.
        ts_step_count                            float    count      *      -       iphone  text
            Steps, counted from time on. Split by device since version 3.0.2.
            v2: ts_stepCount
            documented as: Integer
        ts_step_count_phone                      float    count      *      -       iphone  -
            Steps that the phone counted, from time on.
        ts_step_count_phone_timestamp_end        string   -          *      -       iphone  -
            When counting step_count_phone ended, with offset.
        ts_step_count_watch                      float    count      *      -       iphone  -
            Steps that the watch counted, from time on.
        ts_step_count_watch_timestamp_end        string   -          *      -       iphone  -
            When counting step_count_watch ended, with offset.
        ts_step_count_start_time                 string   -          never  -       iphone  -
            Announced for version 3.0.2: the beginning of step_count, which is time.
        ts_step_count_end_time                   string   -          never  -       iphone  -
            Announced for version 3.0.2; what came is step_count_phone_timestamp_end and
            _watch_.
        ts_walking_distance                      float    m          *      -       iphone  text
            Distance walked or run, from time on. Split by device since version 3.0.2.
            v2: ts_walkingDistance
        ts_walking_distance_phone                float    m          *      -       iphone  -
            Distance that the phone measured, from time on.
        ts_walking_distance_phone_timestamp_end  string   -          *      -       iphone  -
            When measuring walking_distance_phone ended, with offset.
        ts_walking_distance_watch                float    m          *      -       iphone  -
            Distance that the watch measured, from time on.
        ts_walking_distance_watch_timestamp_end  string   -          *      -       iphone  -
            When measuring walking_distance_watch ended, with offset.
        ts_walking_distance_start_time           string   -          never  -       iphone  -
            Announced for version 3.0.2: the beginning of walking_distance, which is time.
        ts_walking_distance_end_time             string   -          never  -       iphone  -
            Announced for version 3.0.2; what came is walking_distance_phone_timestamp_end and
            _watch_.
        ts_workout_type                          string   -          *      -       iphone  text
            Kind of workout, such as Walking.
        ts_workout_duration                      float    s          *      -       iphone  text
            Length of the workout.
        ts_sleep_in_bed                          float    min        *      -       iphone  text
            Time in bed that begins at time; half minutes occur.
        ts_sleep_awake                           float    min        *      -       iphone  text
            Stretch awake that begins at time.
        ts_sleep_REM                             float    min        *      -       iphone  text
            Stretch of REM sleep that begins at time.
        ts_sleep_core                            float    min        *      -       iphone  text
            Stretch of light or intermediate sleep that begins at time.
        ts_sleep_deep                            float    min        *      -       iphone  text
            Stretch of deep sleep that begins at time.
        ts_sleep_unspecified                     float    min        *      -       iphone  text
            Stretch asleep without a stage that begins at time.
        ts_sleep_apnea_duration_minutes          float    min        *      -       iphone  -
            Stretch with disturbed breathing that begins at time. Its transmit_trigger is its
            own name with _trigger.
        ts_latitude                              float    deg        ***    -       iphone  text,ms
            Latitude.
        ts_longitude                             float    deg        ***    -       iphone  text,ms
            Longitude.
        ts_altitude                              float    m          ***    -       iphone  text
            Altitude.
            documented as: Integer
        ts_location_accuracy_horizontal          float    m          ***    -       iphone  -
            Accuracy of latitude and longitude.
        ts_location_accuracy_vertical            float    m          ***    -       iphone  -
            Accuracy of the altitude.
        ts_location_acquisition_method           string   -          ***    -       iphone  -
            Always GPS.
            documented as: not yet implemented
        ts_location_floor                        integer  -          ***    -       iphone  -
            Always 0.
            documented as: not yet implemented
        ts_location_source_device                string   -          ***    -       iphone  -
            Always iPhone.
            documented as: not yet implemented
        ts_timestamp_location                    string   -          ***    -       iphone  -
            When the location was measured, with offset.
            v2: timestamp_location
            documented as: *
        ts_BMI                                   float    kg/m2      *      -       iphone  text
            Body mass index, where the participant entered it.
        ts_body_mass                             float    kg         *      -       iphone  text
            Body mass, where the participant entered it.
            v2: body_mass
        ts_basal_energy_burned                   float    kcal       *      -       iphone  -
            Energy of the body at rest; only in an app made for Waseda University.
        ts_walking_heart_rate                    float    count/min  *      -       iphone  -
            Heart rate while walking; only in an app made for Waseda University.
        ts_appleWalkingSteadiness                float    -          *      -       iphone  -
            Steadiness of the walk; only in an app made for Waseda University.

        # ws_: the same, sent by the watch with a survey; and the survey itself
        ws_survey_count                          integer  -          **     -       watch   text,ms
            Number of the survey of this participant, from 0 or 1; begins anew with another
            participant ID or installation.
            v2: vote_count
        ws_timestamp_start                       string   -          **     -       watch   -
            When the survey was begun, with offset.
            v2: timestamp_start
        ws_heart_rate                            float    count/min  **     3-6min  watch   text,ms
            Heart rate.
        ws_resting_heart_rate                    float    count/min  **     1d      watch   text
            Resting heart rate of a day.
        ws_HRV                                   float    ms         **     15min   watch   text
            Heart rate variability: standard deviation of the intervals between beats (SDNN).
        ws_oxygen_saturation                     float    %          **     1h      watch   text
            Oxygen saturation of the blood.
            documented as: Integer
        ws_wrist_temperature                     float    degC       **     1d      watch   text
            Temperature of the wrist during sleep.
        ws_audio_exposure_environment            float    dB(A)      **     15min   watch   text
            Sound level of the surroundings.
        ws_audio_exposure_headphones             float    dB(A)      **     30s     watch   text
            Sound level of the headphones.
        ws_stand_time                            float    s          **     -       watch   text
            Time stood. Seconds, though the older documentation supposes minutes.
        ws_exercise_time                         float    min        **     -       watch   text
            Minutes of movement at least as brisk as a brisk walk.
            documented as: Integer
        ws_move_time                             float    min        **     -       watch   -
            Minutes of movement.
        ws_active_energy_burned                  float    kcal       **     -       watch   text
            Energy of activity.
        ws_step_count                            float    count      **     -       watch   text
            Steps, counted from time on. Split by device since version 3.0.2.
            documented as: Integer
        ws_step_count_phone                      float    count      **     -       watch   -
            Steps that the phone counted, from time on.
        ws_step_count_phone_timestamp_end        string   -          **     -       watch   -
            When counting step_count_phone ended, with offset.
        ws_step_count_watch                      float    count      **     -       watch   -
            Steps that the watch counted, from time on.
        ws_step_count_watch_timestamp_end        string   -          **     -       watch   -
            When counting step_count_watch ended, with offset.
        ws_step_count_start_time                 string   -          never  -       watch   -
            Announced for version 3.0.2: the beginning of step_count, which is time.
        ws_step_count_end_time                   string   -          never  -       watch   -
            Announced for version 3.0.2; what came is step_count_phone_timestamp_end and
            _watch_.
        ws_walking_distance                      float    m          **     -       watch   text
            Distance walked or run, from time on. Split by device since version 3.0.2.
        ws_walking_distance_phone                float    m          **     -       watch   -
            Distance that the phone measured, from time on.
        ws_walking_distance_phone_timestamp_end  string   -          **     -       watch   -
            When measuring walking_distance_phone ended, with offset.
        ws_walking_distance_watch                float    m          **     -       watch   -
            Distance that the watch measured, from time on.
        ws_walking_distance_watch_timestamp_end  string   -          **     -       watch   -
            When measuring walking_distance_watch ended, with offset.
        ws_walking_distance_start_time           string   -          never  -       watch   -
            Announced for version 3.0.2: the beginning of walking_distance, which is time.
        ws_walking_distance_end_time             string   -          never  -       watch   -
            Announced for version 3.0.2; what came is walking_distance_phone_timestamp_end and
            _watch_.
        ws_workout_type                          string   -          **     -       watch   text
            Kind of workout, such as Walking.
        ws_workout_duration                      float    s          **     -       watch   text
            Length of the workout.
        ws_sleep_in_bed                          float    min        **     -       watch   text
            Time in bed that begins at time; half minutes occur.
        ws_sleep_awake                           float    min        **     -       watch   text
            Stretch awake that begins at time.
        ws_sleep_REM                             float    min        **     -       watch   text
            Stretch of REM sleep that begins at time.
        ws_sleep_core                            float    min        **     -       watch   text
            Stretch of light or intermediate sleep that begins at time.
        ws_sleep_deep                            float    min        **     -       watch   text
            Stretch of deep sleep that begins at time.
        ws_sleep_unspecified                     float    min        **     -       watch   text
            Stretch asleep without a stage that begins at time.
        ws_sleep_apnea_duration_minutes          float    min        **     -       watch   -
            Stretch with disturbed breathing that begins at time. Its transmit_trigger is its
            own name with _trigger.
        ws_latitude                              float    deg        **     -       watch   text
            Latitude; 0 in surveys without a location.
            v2: latitude
        ws_longitude                             float    deg        **     -       watch   text
            Longitude; 0 in surveys without a location.
            v2: longitude
        ws_altitude                              float    m          **     -       watch   text
            Altitude.
            documented as: Integer
        ws_location_accuracy_horizontal          float    m          **     -       watch   -
            Accuracy of latitude and longitude.
        ws_location_accuracy_vertical            float    m          **     -       watch   -
            Accuracy of the altitude.
        ws_location_acquisition_method           string   -          **     -       watch   -
            Always GPS.
            documented as: not yet implemented
        ws_location_floor                        integer  -          **     -       watch   -
            Always 0.
            documented as: not yet implemented
        ws_location_source_device                string   -          **     -       watch   -
            Always Apple Watch.
            documented as: not yet implemented
        ws_timestamp_location                    string   -          **     -       watch   -
            When the location was measured, with offset; empty in surveys without a location.
            v2: timestamp_location

        # q_: answers
        q_*                                      string   -          **     -       watch   -
            Answer to a question of the watch survey: the text of the chosen option. Unanswered
            questions are absent; None is an answer where a survey offers it.

        # wss_: settings of the watch survey
        wss_title                                string   -          sync   -       iphone  -
            Title of the survey; also with each survey.
        wss_goal                                 integer  -          sync   -       iphone  -
            Surveys asked of the participant.
        wss_participation_days                   string   -          sync   -       iphone  -
            Days on which surveys are asked for, such as Mo,Tu.
            v2: settings_participation_days
        wss_participation_time_start             string   -          sync   -       iphone  -
            Time of day at which reminders begin.
            v2: settings_participation_time_start, settings_from_time
        wss_participation_time_end               string   -          sync   -       iphone  -
            Time of day at which reminders end.
            v2: settings_participation_time_end
        wss_reminder_enabled                     boolean  -          sync   -       iphone  -
            Whether the app reminds of surveys. Misspelt before version 3.0.2.
            was: wss_reminder_enabeled
        wss_reminder_interval                    integer  min        sync   -       iphone  -
            Time between reminders.
            v2: settings_notification_frequency
            documented as: String
        wss_time_out                             integer  -          sync   -       iphone  -
            Shortest time between two surveys: minutes in some studies, seconds in others.
            documented as: Not yet implemented

        # pss_: settings of the phone survey
        pss_reminder_days                        string   -          sync   -       iphone  -
            Days of the reminder.
        pss_reminder_enabled                     boolean  -          sync   -       iphone  -
            Whether the app reminds of the phone survey.
        pss_reminder_time                        string   -          sync   -       iphone  -
            Time of day of the reminder.

        # api_: settings of the backend
        api_phone_survey_url                     string   -          sync   -       iphone  -
            Address of the phone survey.
        api_watch_survey_url                     string   -          sync   -       iphone  -
            Address of the watch survey (a JSON file).
        api_read_url                             string   -          sync   -       iphone  -
            Address that the app reads from.
        api_read_key                             string   -          sync   -       iphone  -
            Key of api_read_url, in clear text.
        api_write_url                            string   -          sync   -       iphone  -
            Address that the app writes to.
        api_write_key                            string   -          sync   -       iphone  -
            Key of api_write_url, in clear text.

        # app_: the app
        app_bundle_name                          string   -          sync   -       iphone  -
            Name of the app.
        app_bundle_build_number                  string   -          sync   -       iphone  -
            Version of the app, or its build: the two are mixed up in settings.
        app_bundle_build_version                 string   -          sync   -       iphone  -
            Build of the app, or its version; also with surveys and locations. Text, though it
            can look like a number.
        app_one_signal_app_id                    string   -          sync   -       iphone  -
            The app as OneSignal knows it.

        # si_: phone and watch
        si_ios_version                           string   -          sync   -       iphone  -
            Version of iOS. Text, though it can look like a number.
        si_iphone_battery_charge_state           integer  %          sync   -       iphone  -
            Charge of the battery; -100 where it is unknown.
            documented as: Float, Not yet implemented
        si_iphone_cellular_signal_strength       integer  -          sync   -       iphone  -
            Always 0 so far: the app sends it empty.
            documented as: Float, Not yet implemented
        si_iphone_wifi_signal_strength           integer  -          sync   -       iphone  -
            Always 0 so far: the app sends it empty.
            documented as: Float, Not yet implemented
        si_iphone_device_id                      string   -          sync   -       iphone  -
            Identifier of the phone.
            documented as: Not yet implemented
        si_iphone_location_service_enabled       boolean  -          sync   -       iphone  -
            Whether location services are on.
            documented as: Not yet implemented
        si_iphone_low_battery_mode_enabled       boolean  -          sync   -       iphone  -
            Whether the phone saves its battery.
            documented as: Not yet implemented
        si_iphone_model                          string   -          sync   -       iphone  -
            Model of the phone.
            documented as: Not yet implemented
        si_watch_battery_charge_state            integer  %          sync   -       watch   -
            Charge of the battery; -100 where it is unknown.
            documented as: Float, Not yet implemented
        si_watch_cellular_signal_strength        integer  -          sync   -       watch   -
            Always 0 so far: the app sends it empty.
            documented as: Float, Not yet implemented
        si_watch_wifi_signal_strength            integer  -          sync   -       watch   -
            Always 0 so far: the app sends it empty.
            documented as: Float, Not yet implemented
        si_watch_connected_to_phone              boolean  -          sync   -       watch   -
            Whether phone and watch are connected.
            documented as: Not yet implemented
        si_watch_device_id                       string   -          sync   -       watch   -
            Identifier of the watch.
            documented as: Not yet implemented
        si_watch_location_service_enabled        boolean  -          sync   -       watch   -
            Whether location services are on.
            documented as: Not yet implemented
        si_watch_model                           string   -          sync   -       watch   -
            Model of the watch.
            documented as: Not yet implemented
        si_watchos_version                       string   -          sync   -       watch   -
            Version of watchOS. Text, though it can look like a number.
            documented as: Not yet implemented

        # notification_, action_: push notifications
        notification_id                          string   -          push   -       iphone  -
            Name of the notification.
        notification_title                       string   -          push   -       iphone  ms
            Title.
        notification_subtitle                    string   -          push   -       iphone  -
            Line below the title; empty where there is none.
        notification_text                        string   -          push   -       iphone  -
            Text.
        notification_trigger                     string   -          push   -       iphone  -
            What happened to it, such as push_notification_reception; the same as
            transmit_trigger.
        action_buttons_shown                     string   -          push   -       iphone  -
            Labels of its buttons, with commas between them; empty where it had none.
        action_button_pressed                    string   -          push   -       iphone  ms
            Label of the button that was pressed.
        action_button_shown                      string   -          never  -       iphone  -
            As documented; the app says action_buttons_shown.
        action_button                            string   -          push   -       iphone  text,ms
            Label of the button that was pressed; in early versions.

        # Beside other fields: added by the backend
        *_lambda                                 string   -          row    -       server  -
            When the backend stored the field of that name, UTC, as text.
        *_lambda_ms                              float    ms         row    -       server  -
            When the backend stored the field of that name, since 1970 UTC.
        *_trigger                                string   -          row    -       server  -
            What made the app send the field of that name.
        """#
}
