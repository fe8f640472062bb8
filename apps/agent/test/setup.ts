import { afterAll } from 'vitest'
import { endAll } from './base.ts'

// Test files share the modules of their process: each ends what it has begun itself.
afterAll(endAll)
