import type { AgentSettingsPlan } from '@netlet/contract'
import { screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { fleet } from '../../api/routes.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { admin } from '../../testing/shapes.ts'
import { renderScreen } from '../kit/screen.fixture.tsx'
import { AgentSettingsPanel } from './agent-settings.tsx'
import { busy, dialog, noSettings, say } from './servers.fixture.tsx'

const plan: AgentSettingsPlan = {
  changes: [{ name: 'AGENT_WORKERS', from: '1', to: '4' }],
  pending: 1,
  effect: 'restarts',
  connections: 1234,
  overridden: ['AGENT_WORKERS'],
  may_shut_out: false,
  waiting: [],
  upgrade_to: '0.1.0+5eed0001',
  lines: 'AGENT_WORKERS=4\n'
}
const show = (as = admin) => renderScreen(<AgentSettingsPanel server={busy} />, { as })
const field = (name: string) => screen.findByRole<HTMLInputElement>('textbox', { name })

describe('the settings of an agent', () => {
  it('are applied after what changes, what is overridden and what is cut was said', async () => {
    answer(fleet.agentSettings, noSettings)
    answer(fleet.planAgentSettings, plan)
    answer(fleet.setAgentSettings, { ...noSettings, settings: { AGENT_WORKERS: '4' } })
    const { user } = show()
    const workers = await field('Workers')
    expect(workers.getAttribute('placeholder')).toBe('1')
    expect(
      screen.getByText(/Processes that share the proxy port.*Default: 1\..*local\.env, which takes precedence/)
    ).toBeTruthy()
    await user.type(workers, '4')
    await user.click(screen.getByRole('button', { name: 'Save and apply' }))
    const asked = within(await dialog('Apply the settings to paris?'))
    expect(asked.getByText(/closes its open tunnels \(1,234\)/)).toBeTruthy()
    expect(asked.getByText(/local\.env sets these and takes precedence: AGENT_WORKERS/)).toBeTruthy()
    await say(user, 'YES')
    const body = { settings: { AGENT_WORKERS: '4' }, apply: true, version: 'no settings' }
    await waitFor(() => expect(requestsOf(fleet.setAgentSettings)).toMatchObject([{ body }]))
  })

  it('warn of a list that may lock the console out, and of a possible restart', async () => {
    answer(fleet.agentSettings, noSettings)
    answer(fleet.planAgentSettings, { ...plan, effect: 'unknown', may_shut_out: true })
    const { user } = show()
    await user.type(await field('Management access'), '203.0.113.7')
    await user.click(screen.getByRole('button', { name: 'Save and apply' }))
    const asked = within(await dialog('Apply the settings to paris?'))
    expect(asked.getByText(/does not include it, the console loses the server/)).toBeTruthy()
    expect(asked.getByText(/open tunnels \(1,234\) may close/)).toBeTruthy()
  })

  it('are not sent where one makes no sense', async () => {
    answer(fleet.agentSettings, noSettings)
    const { user } = show()
    await user.type(await field('Closed ports'), '25,x')
    expect(await screen.findByText('Port numbers, separated by commas')).toBeTruthy()
    await user.click(screen.getByRole('button', { name: 'Save and apply' }))
    expect(requestsOf(fleet.planAgentSettings)).toEqual([])
  })

  it('say which of them wait for an upgrade of the agent', async () => {
    answer(fleet.agentSettings, { ...noSettings, settings: { AGENT_ALLOW_PORTS: '80' }, applied: {}, agent_format: 2 })
    show()
    expect(
      await screen.findByText(/too old for some .* take effect with version 0\.1\.0\+5eed0001: Open ports$/)
    ).toBeTruthy()
    expect(screen.getByText(/closed ports.*Takes effect with agent version 0\.1\.0\+5eed0001\./)).toBeTruthy()
    expect(screen.queryByText(/closed to everyone.*Takes effect with agent version/)).toBeNull()
  })

  it("keep what is typed after an expired session and another user's save, until the conflict is decided", async () => {
    answer(fleet.agentSettings, noSettings)
    answer(fleet.planAgentSettings, plan)
    const before = show()
    await before.user.type(await field('Workers'), '4')
    before.unmount()
    const { user } = show()
    expect((await field('Workers')).value).toBe('4')
    const theirs = { ...noSettings, settings: { AGENT_WORKERS: '2', AGENT_DENY_PORTS: '25' }, version: 'theirs' }
    answer(fleet.agentSettings, theirs)
    answerRefused(fleet.setAgentSettings, 'stale')
    const save = async () => {
      await user.click(screen.getByRole('button', { name: 'Save' }))
      await say(user, 'YES')
    }
    await save()
    expect(await screen.findByText('Workers: you entered 4, but 2 was saved')).toBeTruthy()
    await user.click(screen.getByRole('button', { name: 'Keep my values' }))
    const settings = { AGENT_WORKERS: '4', AGENT_DENY_PORTS: '25' }
    answer(fleet.setAgentSettings, { ...theirs, settings, version: 'mine' })
    await save()
    await waitFor(() =>
      expect(requestsOf(fleet.setAgentSettings).at(-1)?.body).toMatchObject({ settings, version: 'theirs' })
    )
  })

  it('are lines to copy where the console has no login, and to be read by those who may not change them', async () => {
    const lines = 'AGENT_DENY_PORTS=\n'
    answer(fleet.agentSettings, { ...noSettings, settings: { AGENT_DENY_PORTS: '' }, lines, can_apply: false })
    show({ ...admin, operator_role: 'viewer' })
    expect((await field('Closed ports')).getAttribute('value')).toBe('none')
    expect((await field('Closed ports')).hasAttribute('readonly')).toBe(true)
    expect(screen.getByText('AGENT_DENY_PORTS=')).toBeTruthy()
    expect(screen.queryByRole('button', { name: 'Save' })).toBeNull()
  })
})
