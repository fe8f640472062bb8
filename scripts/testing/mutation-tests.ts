import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { mutated } from './mutation.ts'

const contract = fileURLToPath(new URL('../../packages/contract/src/', import.meta.url))

/** The tests for mutants: those beside the mutated files. They need no database. */
export default defineConfig({
  // Packages link to the original repository, which is not mutated.
  resolve: {
    alias: [
      { find: /^@netlet\/contract$/, replacement: `${contract}index.ts` },
      { find: /^@netlet\/contract\/(.+)$/, replacement: `${contract}$1.ts` }
    ]
  },
  test: {
    isolate: false,
    testTimeout: 60_000,
    // Use the fixed seeds even in the long tier, because each mutant repeats the searches.
    env: { NETLET_TEST_TIER: '' },
    include: mutated.map(file => file.replace(/\.ts$/, '.test.ts'))
  }
})
