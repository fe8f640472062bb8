import type { Health, SettingTest, SettingTestResult } from '@netlet/contract'
import type { AppContext } from '../../infra/context.ts'
import type { UserActor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'

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

type Sections = Omit<Health, 'at'>

/** What the health page needs from higher domains. */
export type HealthPorts = {
  /** Each section is read on its own, so that a failing one does not hide the others. */
  sections: { [S in keyof Sections]: () => Promise<NonNullable<Sections[S]>> }
  /** Checks the platform now. The sections report failures. */
  refresh: () => Promise<void>
}

export async function readHealth(ctx: Pick<AppContext, 'now' | 'log'>, { sections }: HealthPorts): Promise<Health> {
  const read = await Promise.all(
    Object.entries(sections).map(async ([name, section]) => [
      name,
      await section().catch((error: unknown) => {
        ctx.log.error({ err: error, section: name }, 'a section of the health page cannot be read')
        return null
      })
    ])
  )
  return { at: ctx.now().toISOString(), ...(Object.fromEntries(read) as Sections) }
}
