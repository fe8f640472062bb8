import type { SettingTest, SettingTestResult } from '@netlet/contract'
import type { UserActor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'

/** Each tests the saved settings and returns the outcome; a failure is an outcome too. */
export type SettingTests = Record<SettingTest, (by: UserActor) => Promise<SettingTestResult>>

/** Tests saved settings and audits who did. */
export async function testSettings(
  ctx: AppContext,
  by: UserActor,
  tests: SettingTests,
  test: SettingTest
): Promise<SettingTestResult> {
  await command(ctx, by, async unit => unit.audit('settings.test', test))
  return tests[test](by)
}
