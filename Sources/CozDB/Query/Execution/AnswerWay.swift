// How a call gets its answer, in the words of EXPLAIN.

/// From what a call of a group is answered.
enum AnswerWay: String {
    case statistics = "from block statistics where a block lies in one bucket, else from values"
    case values = "from values"
    case ends = "from the ends of each series"
    case keptValues = "from values, all of them kept"
    case filtered = "from values of the rows that pass WHERE, found by bits"
    case rows = "from rows"
    case keptRows = "from rows, all of them kept"
    case oneRow = "from the first row at its end of each series"
    case subquery = "from the rows of the subquery"
    case nothing = "nothing to read"
}
