import { config } from 'zod'

// The page's content security policy forbids code made from text. The validation library would try all the same when
// the first schema is built, and each page would report that as a violation.
config({ jitless: true })
