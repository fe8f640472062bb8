import { afterAll } from 'vitest'
import { endAll } from './base.ts'

// Test files share the modules of their process, so each file cleans up after itself.
afterAll(endAll)
