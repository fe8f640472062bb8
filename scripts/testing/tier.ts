/**
 * Whether this run is `npm run test:long`, which also runs `*.long.test.ts` and `*.long.spec.ts`, and uses random seeds
 * where `npm test` uses a fixed one.
 */
export const isLong = process.env['NETLET_TEST_TIER'] === 'long'

/** Options for `fc.assert`: the number of runs, with a fixed seed in `npm test` and a random one in the long tier. */
export const runs = (fast: number, long: number, seed = 20_260_301): { numRuns: number; seed?: number } =>
  isLong ? { numRuns: long } : { numRuns: fast, seed }
