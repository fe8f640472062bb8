import type { Settings } from '@netlet/contract'
import { DAY } from '../../infra/clock.ts'
import type { Keep } from '../../infra/retention.ts'

/** How long rows are kept, in milliseconds. */
export const keptFor = (keep: Keep, settings: Settings): number =>
  'ms' in keep ? keep.ms : settings[keep.setting] * DAY
