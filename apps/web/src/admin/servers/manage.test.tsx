import type { Server } from '@netlet/contract'
import { screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { fleet, inventory } from '../../api/routes.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { pageOf, server, noTraffic } from '../../testing/shapes.ts'
import { keepNothing, renderScreen } from '../kit/screen.fixture.tsx'
import ServersPage from './page.tsx'
import { noSettings, noTls } from './servers.fixture.tsx'

const ROUTE = '/dashboard/index/servers'
const ranges = ['192.0.2.0/29', '192.0.2.8/29'].map((cidr, id) => ({ id, cidr, ip_count: 8, name: cidr }))
const paris: Server = { ...server, cidrs: ranges }

const held = [
  { user: 'byhand', prefixes: ['192.0.2.0/30'] },
  { user: 'uABC', prefixes: [] }
]

function open(at = `${ROUTE}?detail=4`, user_list: typeof held | null = held) {
  keepNothing()
  answer(fleet.servers, pageOf(paris))
  answer(fleet.server, paris)
  answer(fleet.traffic, noTraffic)
  answer(fleet.groups, pageOf())
  answer(fleet.agentVersion, { version: '0.1.0' })
  answer(fleet.upgrades, pageOf())
  answer(fleet.agentSettings, noSettings)
  answer(fleet.proxyTls, noTls)
  answer(inventory.groups, pageOf({ id: 2, name: 'Sneakers', description: '', acls: [], version: 'v' }))
  answer(fleet.serverInfo, { server_info: { cidr: ['192.0.2.0/29'], num_of_users: 2 }, user_list })
  return renderScreen(<ServersPage />, { at, route: ROUTE })
}
type User = ReturnType<typeof open>['user']
const pick = async (user: User, name: string) =>
  user.selectOptions(await screen.findByRole('combobox', { name: /^Operation/ }), name)
const runIt = (user: User) => user.click(screen.getByRole('button', { name: 'Run' }))
const say = async (user: User, word: 'YES' | 'NO') => user.click(await screen.findByRole('button', { name: word }))
const output = () => screen.getByRole('region', { name: 'Output' })
const field = (name: RegExp) => screen.getByRole<HTMLInputElement>('textbox', { name })

describe('managing a server', () => {
  it('stands at an address of its own, warns that stock does not know of it, and shows info and users', async () => {
    open()
    expect(await screen.findByText(/^Manual operations do not affect stock/)).toBeTruthy()
    const users = await screen.findByRole('list', { name: 'User list' })
    expect(within(users).getAllByRole('listitem')).toHaveLength(2)
    expect(within(screen.getByRole('region', { name: 'Server info' })).getByText(/"num_of_users": 2/)).toBeTruthy()
  })

  it('is opened by Manage, and left by Back, which clears users, info, fields, output and username', async () => {
    answer(fleet.listAcl, { status: 200, output: 'byhand denied.test' })
    const { user, asked } = open(ROUTE)
    await user.click(await screen.findByRole('button', { name: 'Actions: paris' }))
    await user.click(await screen.findByRole('menuitem', { name: 'Manage' }))
    expect(asked()).toEqual({ detail: '4' })
    await user.click(await screen.findByRole('button', { name: 'byhand' }))
    expect(asked()).toEqual({ detail: '4', handle: 'delete_user' })
    expect(field(/^Username/).value).toBe('byhand')
    await pick(user, 'list_acl')
    await runIt(user)
    await within(output()).findByText('byhand denied.test')
    const before = requestsOf(fleet.serverInfo).length
    await user.click(screen.getByRole('button', { name: 'Back' }))
    await screen.findByRole('table')
    expect(asked()).toEqual({})
    await user.click(await screen.findByRole('button', { name: 'Actions: paris' }))
    await user.click(await screen.findByRole('menuitem', { name: 'Manage' }))
    await screen.findByText('The raw response appears here.')
    expect(field(/^Username/).value).toBe('')
    await screen.findByRole('list', { name: 'User list' })
    expect(requestsOf(fleet.serverInfo).length).toBe(before + 1)
  })

  it.each([
    ['typed settings of the agent', async (user: User) => user.type(await screen.findByLabelText('Workers'), '4')],
    [
      'a pasted key',
      async (user: User) => {
        await user.selectOptions(await screen.findByRole('combobox', { name: 'Certificate' }), 'pasted')
        await user.type(field(/^Key/), 'KEY')
      }
    ]
  ])('is not left by Back or by the browser with %s, unsaved, before that was asked', async (_, type) => {
    const { user, asked, goBack } = open(ROUTE)
    const manage = async (entry: string) => {
      await user.click(await screen.findByRole('button', { name: 'Actions: paris' }))
      await user.click(await screen.findByRole('menuitem', { name: entry }))
    }
    await manage('Manage')
    await type(user)
    const stay = async () => {
      await say(user, 'NO')
      await waitFor(() => expect(screen.queryByText('Discard changes?')).toBeNull())
      expect(window.location.pathname).toBe(ROUTE)
      expect(asked()).toEqual({ detail: '4' })
    }
    await user.click(screen.getByRole('button', { name: 'Back' }))
    await stay()
    await goBack()
    await stay()
    // Other parameters are fine as long as the same server is shown.
    await user.selectOptions(screen.getByRole('combobox', { name: /^Operation/ }), 'list_acl')
    await goBack()
    await waitFor(() => expect(asked()).toEqual({ detail: '4' }))
    expect(screen.queryByText('Discard changes?')).toBeNull()
    await user.click(screen.getByRole('button', { name: 'Back' }))
    await say(user, 'YES')
    await screen.findByRole('table')
    expect(asked()).toEqual({})
  })

  it('asks before what was typed into a handle and not run is lost, but for Back, which clears it', async () => {
    const { user, asked, goBack } = open(ROUTE)
    await user.click(await screen.findByRole('button', { name: 'Actions: paris' }))
    await user.click(await screen.findByRole('menuitem', { name: 'Manage' }))
    await user.type(await screen.findByRole('textbox', { name: /^Username/ }), 'new')
    await goBack()
    await say(user, 'NO')
    expect(asked()).toEqual({ detail: '4' })
    expect(field(/^Username/).value).toBe('new')
    await waitFor(() => expect(screen.queryByText('Discard changes?')).toBeNull())
    await user.click(screen.getByRole('button', { name: 'Back' }))
    await screen.findByRole('table')
    expect(screen.queryByText('Discard changes?')).toBeNull()
  })

  it('creates a user by prefix, and asks for what is missing in the words of the specification', async () => {
    answer(fleet.createUserByPrefix, { status: 200, output: { proxies: ['192.0.2.0'] } })
    const { user } = open()
    await screen.findByRole('list', { name: 'User list' })
    await runIt(user)
    for (const words of ['please enter a username', 'please enter a prefix', 'please select a acl_group'])
      expect(await screen.findByText(words)).toBeTruthy()
    await user.type(field(/^Username/), 'carl')
    await user.type(field(/^Prefix/), '192.0.2.0/30')
    await user.selectOptions(screen.getByRole('combobox', { name: /^ACL group/ }), '2')
    await runIt(user)
    expect(await within(output()).findByText(/"192\.0\.2\.0"/)).toBeTruthy()
    expect(requestsOf(fleet.createUserByPrefix)[0]?.body).toEqual({
      username: 'carl',
      prefix: '192.0.2.0/30',
      acl_group: 2
    })
  })

  it('deletes one user after a question, never without a username', async () => {
    answer(fleet.deleteUser, { status: 200, output: { deleted: true } })
    const { user } = open(`${ROUTE}?detail=4&handle=delete_user`)
    await screen.findByRole('list', { name: 'User list' })
    await runIt(user)
    expect(await screen.findByText('please enter a username')).toBeTruthy()
    await user.type(field(/^Username/), 'byhand')
    await runIt(user)
    expect((await screen.findByRole('dialog', { name: 'Confirm deletion' })).textContent).toContain(
      'byhand is deleted from paris'
    )
    await say(user, 'NO')
    expect(requestsOf(fleet.deleteUser)).toEqual([])
    await runIt(user)
    await say(user, 'YES')
    expect(await within(output()).findByText(/"deleted": true/)).toBeTruthy()
  })

  it('deletes all users after a question that says how many there are', async () => {
    answer(fleet.deleteAllUser, { status: 200, output: { deleted: 1, kept: 1 } })
    const { user } = open(`${ROUTE}?detail=4&handle=delete_all_user`)
    await screen.findByRole('list', { name: 'User list' })
    await runIt(user)
    expect((await screen.findByRole('dialog', { name: 'Confirm deletion' })).textContent).toContain('has 2 users')
    await say(user, 'YES')
    expect(await within(output()).findByText(/"kept": 1/)).toBeTruthy()
  })

  it('resets the proxies but for the ranges to keep, and says which ones go', async () => {
    answer(fleet.resetAllProxy, { status: 200, output: { prefixes: ['192.0.2.0/29'] } })
    const { user } = open(`${ROUTE}?detail=4&handle=reset_all_proxy`)
    await user.type(await screen.findByRole('textbox', { name: /^CIDRs to keep/ }), '192.0.2.0/29')
    await runIt(user)
    const question = await screen.findByRole('dialog', { name: 'Reset the ranges of paris?' })
    expect(question.textContent).toContain('1 (192.0.2.8/29)')
    await say(user, 'YES')
    await waitFor(() => expect(requestsOf(fleet.resetAllProxy)[0]?.body).toEqual({ cidrs: ['192.0.2.0/29'] }))
  })

  it('empties the access log after a question, and reads the deny list and the info at once', async () => {
    answer(fleet.flushAccessLog, { status: 200, output: { flushed: true } })
    const { user } = open(`${ROUTE}?detail=4&handle=flush_access_log`)
    await screen.findByRole('list', { name: 'User list' })
    await runIt(user)
    await say(user, 'YES')
    expect(await within(output()).findByText(/"flushed": true/)).toBeTruthy()
    await pick(user, 'get_server_info')
    await runIt(user)
    expect(await within(output()).findByText(/"user_list"/)).toBeTruthy()
  })

  it('checks IPv6, and says what that means', async () => {
    const results = [{ target: '[2001:db8::1]:443', found: 'silent' as const, own: 'refused' as const }]
    const check = { prefix: '2001:db8:7::/48', address: '2001:db8:7::42', verdict: 'no_neighbour' as const, results }
    answer(fleet.checkIpv6, { checks: [check], more: 2 })
    const { user } = open(`${ROUTE}?detail=4&handle=check_ipv6`)
    await user.type(await screen.findByRole('textbox', { name: /^Connect to/ }), 'no port')
    await runIt(user)
    expect(await screen.findByText('Enter a host and a port, such as example.com:443')).toBeTruthy()
    await user.clear(field(/^Connect to/))
    await user.type(field(/^Connect to/), '[[2001:db8::1]:443')
    await runIt(user)
    expect(await within(output()).findByText(/2001:db8:7::\/48: .*received no reply.*ndppd/)).toBeTruthy()
    expect(within(output()).getByText(/2 more ranges were not checked/)).toBeTruthy()
    expect(requestsOf(fleet.checkIpv6)[0]?.body).toEqual({ target: '[2001:db8::1]:443' })
  })

  it('passes a call to the agent, with a path and JSON that are right', async () => {
    answer(fleet.requestApi, { status: 404, output: 'no such call' })
    const { user } = open(`${ROUTE}?detail=4&handle=request_api`)
    await user.type(await screen.findByRole('textbox', { name: /^URI/ }), '/etc/passwd')
    await user.type(field(/^JSON input/), '[[1]')
    await runIt(user)
    expect(await screen.findByText('please enter a correct uri')).toBeTruthy()
    expect(screen.getByText('please enter a correct json_input')).toBeTruthy()
    await user.clear(field(/^URI/))
    await user.type(field(/^URI/), '/api/view-user')
    await user.clear(field(/^JSON input/))
    await user.type(field(/^JSON input/), '{{"user": "carl"}')
    await runIt(user)
    const asked = await screen.findByRole('dialog', { name: 'Send this request to paris?' })
    expect(asked.textContent).toContain(
      'POST /api/view-user\n{"user": "carl"}\nThe agent does exactly what the request says.'
    )
    await user.click(within(asked).getByRole('button', { name: 'NO' }))
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    expect(requestsOf(fleet.requestApi)).toEqual([])
    await runIt(user)
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    expect(await within(output()).findByText('no such call')).toBeTruthy()
    expect(requestsOf(fleet.requestApi)[0]?.body).toEqual({ uri: '/api/view-user', json_input: '{"user": "carl"}' })
  })

  it('shows in the output panel what was refused, and above the users that the agent is away', async () => {
    answerRefused(fleet.listAcl, 'agent_unreachable', { params: { message: 'ECONNREFUSED' } })
    const { user } = open(`${ROUTE}?detail=4&handle=list_acl`)
    await screen.findByRole('list', { name: 'User list' })
    await runIt(user)
    expect(await within(output()).findByText(/ECONNREFUSED/)).toBeTruthy()
    answerRefused(fleet.serverInfo, 'agent_unreachable', { params: { message: 'EHOSTUNREACH' } })
    await user.click(screen.getByRole('button', { name: 'Refresh' }))
    expect((await screen.findByRole('alert')).textContent).toContain('EHOSTUNREACH')
  })

  it('says that the role does not see the users, where the server keeps them back', async () => {
    open(undefined, null)
    expect(await screen.findByText("Your role cannot see the agent's users.")).toBeTruthy()
    expect(screen.queryByRole('list', { name: 'User list' })).toBeNull()
  })
})
