import { config } from 'zod'

// The content security policy forbids eval. Without this the validation library would try it with the first schema, and
// every page would report a violation.
config({ jitless: true })
