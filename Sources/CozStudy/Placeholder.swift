internal import CozDB
