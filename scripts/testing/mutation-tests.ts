import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { mutated } from './mutation.ts'

const contract = fileURLToPath(new URL('../../packages/contract/src/', import.meta.url))

/** The tests that judge mutants: those beside the mutated files. They need no database. */
export default defineConfig({
  // Packages are links to the repository itself, where nothing is mutated.
  resolve: {
    alias: [
      { find: /^@netlet\/contract$/, replacement: `${contract}index.ts` },
      { find: /^@netlet\/contract\/(.+)$/, replacement: `${contract}$1.ts` }
    ]
  },
  test: {
    isolate: false,
    testTimeout: 60_000,
    // Also in the long tier the fixed slice of searches: each mutant repeats them.
    env: { NETLET_TEST_TIER: '' },
    include: mutated.map(file => file.replace(/\.ts$/, '.test.ts'))
  }
})
