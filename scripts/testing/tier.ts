/**
 * Whether this run is `npm run test:long`, which has hours: it also runs files named `*.long.test.ts` and
 * `*.long.spec.ts`, and searches with random seeds where `npm test` repeats a fixed slice.
 */
export const isLong = process.env['NETLET_TEST_TIER'] === 'long'

/** Options for `fc.assert`: so many runs of one fixed seed in `npm test`, so many of a random one in the long tier. */
export const runs = (fast: number, long: number, seed = 20_260_301): { numRuns: number; seed?: number } =>
  isLong ? { numRuns: long } : { numRuns: fast, seed }
