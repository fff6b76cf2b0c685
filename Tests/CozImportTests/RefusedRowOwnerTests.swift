// A refused row whose participant is named elsewhere in its file, or in escapes.

internal import CozDB
internal import CozImport
internal import CozTestSupport
internal import Testing

@Suite struct RefusedRowOwnerTests {
    let files = TemporaryFiles()
    let directory = TemporaryDirectory()

    struct Input: Sendable, CustomTestStringConvertible {
        var title: String
        var format: InputFormat
        var text: String
        var participant = "p1"
        var experiment: String?

        var testDescription: String { title }
    }

    static let inputs = [
        Input(
            title: "tags of a series", format: .influxJSON,
            text: """
                {"results":[{"series":[
                {"name":"m","tags":{"id_participant":"p1"},"columns":["time","x"],
                "values":[["late",1],[2,3]]},
                {"name":"m","tags":{"id_participant":"p2"},"columns":["time","x"],
                "values":[["late",1],7,[2,3]]}]}]}
                """),
        Input(
            title: "a row of a series that is no array", format: .influxJSON,
            text: """
                {"results":[{"series":[
                {"name":"m","tags":{"id_participant":"p1"},"columns":["time","x"],"values":[7]},
                {"name":"m","tags":{"id_participant":"p2"},"columns":["time","x"],
                "values":[8,9]}]}]}
                """),
        Input(
            title: "invalid JSON in a series", format: .influxJSON,
            text: """
                {"results":[{"series":[
                {"name":"m","tags":{"id_participant":"p2"},"columns":["time","x"],
                "values":[["late",1],["late",2]]},
                {"name":"m","tags":{"id_participant":"p1"},"columns":["time","x"],
                "values":[[1,@]]}]}]}
                """),
        Input(
            title: "an escaped name", format: .influxJSON,
            text: """
                {"results":[{"series":[
                {"name":"m","columns":["time","id_participant","x"],
                "values":[["late","Zo\\u00eb \\uD83D\\uDE00",1],["late","p2",1],["late","p3",1]]}]}]}
                """, participant: "Zoë 😀"),
        Input(
            title: "a default of annotated CSV", format: .annotatedCSV,
            text: """
                #datatype,string,long,dateTime:RFC3339,string,string,double
                #group,false,false,false,true,true,false
                #default,,,,,p1,
                ,result,table,_time,_measurement,id_participant,x
                ,,0,late,m,,1
                ,,0,late,m,p2,2
                ,,0,late,m,p3,2

                """),
        Input(
            title: "a constant of annotated CSV", format: .annotatedCSV,
            text: """
                #constant measurement,m
                #constant tag,id_participant,p1
                #datatype dateTime:RFC3339,double
                time,x
                late,1

                #constant measurement,m
                #constant tag,id_participant,p2
                #datatype dateTime:RFC3339,double
                time,x
                late,1
                late,2

                """),
        Input(
            title: "quotes in a cell", format: .csv,
            text: "time,id_participant,x\nlate,\"Zo\"\"ë\",1\nlate,p2,1\nlate,p3,1\n",
            participant: "Zo\"ë", experiment: "m"),
    ]

    @Test(arguments: inputs)
    func `forgetting a participant removes their refused rows`(input: Input) throws {
        let path = files.write("input", input.text)
        let database = try Database.open(directory.path)
        var options = ImportOptions()
        options.format = input.format
        options.experiment = input.experiment
        _ = try importFiles([path], into: database, options: options)
        #expect(try database.info().rejects == 3)
        _ = try database.forget([input.participant])
        #expect(try database.info().rejects == 2)
        var left: [String] = []
        try database.rejects { entry in
            left.append("\(entry.refusal)")
            return true
        }
        // They are refused from now on, too.
        _ = try importFiles([path], into: database, options: options)
        #expect(try database.info().rejects == 2, "\(left)")
        try database.close()
    }
}
