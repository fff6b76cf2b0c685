// What a user can do about an error, as a value that each front end puts into its own words.

/// What the user can do about an error: run a maintenance operation, or change a setting.
///
/// Messages say this in plain words, without commands or options, because servers and language
/// bindings print them too. A front end can add its own command or option for the remedy.
public enum Remedy: Sendable, Hashable {
    /// Repair the database: keep what can be read, move the rest aside.
    case repair
    /// Show what a repair would change, then repair.
    case previewRepair
    /// Check all files of the database.
    case check
    /// Compact the database.
    case compact
    /// Back up the database, or continue an unfinished backup.
    case backup
    /// Back up the database and verify the files that are already in the backup.
    case verifyBackup
    /// Restore a backup to another directory, or continue an unfinished restore.
    case restore
    /// Readmit forgotten participants, whose data is accepted again.
    case readmit
    /// Export the list of forgotten participants.
    case listForgotten
    /// Forget again, and remove the files in the damaged folder.
    case removeDamagedFiles
    /// Change or leave out one of these settings, most likely first.
    case change([Setting])

    /// A setting of the call that failed. The raw value is its name for programs.
    public enum Setting: String, Sendable, Hashable, CaseIterable {
        /// The tag with the participant, in a new experiment.
        case participantTag
        /// The participant: of all rows of an input, or of a question.
        case participant
        /// The identity of a new experiment.
        case identity
        /// The type rule of a new experiment.
        case typeRule
        /// The preset of a new experiment.
        case preset
        /// The experiment of all rows of an input.
        case experiment
        /// The column with the experiment.
        case experimentColumn
        /// The column with the time.
        case timeColumn
        /// The column with the time of day.
        case timeOfDayColumn
        /// The column with the participant.
        case participantColumn
        /// The columns to store as tags.
        case tagColumns
        /// The columns to skip.
        case skippedColumns
        /// The types of columns.
        case columnTypes
        /// The byte between cells.
        case delimiter
        /// Whether numbers have a decimal comma.
        case decimalComma
        /// The texts that mean no value.
        case nulls
        /// The time zone of times without an offset.
        case timeZone
        /// The number of lines above the header.
        case skippedLines
        /// The format of times.
        case timeFormat
        /// The unit of times that are numbers.
        case precision
        /// The time of rows without one.
        case now
        /// The format of an input or output.
        case format
        /// The database of an InfluxDB export.
        case database
        /// The retention policy of an InfluxDB export.
        case policy
        /// Whether trailing commas in JSON are accepted.
        case trailingCommas
        /// Whether an input is stored as a whole or not at all.
        case atomic
        /// The stream of a Beiwe file.
        case stream
        /// The time range.
        case range
        /// The fields of a question about a study.
        case modalities
        /// Whether credential columns are masked.
        case redaction
        /// The field of a summary.
        case field
        /// The field with the quality of a summary.
        case qualityField
        /// The minimum quality of a summary.
        case qualityMin
    }
}
