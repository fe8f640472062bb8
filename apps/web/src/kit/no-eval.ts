import { config } from 'zod'

// The content security policy forbids eval, which the validation library would otherwise try.
config({ jitless: true })
