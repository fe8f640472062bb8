import type { SettingTest, SettingTestResult } from '@netlet/contract'
import type { UserActor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'

/** Each tries out the saved settings at once, and tells what came of it; what goes wrong is a result. */
export type SettingTests = Record<SettingTest, (by: UserActor) => Promise<SettingTestResult>>

/** Tries out saved settings, and writes down who did. */
export async function testSettings(
  ctx: AppContext,
  by: UserActor,
  tests: SettingTests,
  test: SettingTest
): Promise<SettingTestResult> {
  await command(ctx, by, async unit => unit.audit('settings.test', test))
  return tests[test](by)
}
