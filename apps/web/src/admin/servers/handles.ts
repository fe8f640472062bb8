import type { Ipv6Check } from '@netlet/contract'
import type { Endpoint } from '../../api/client.ts'
import { fleet } from '../../api/routes.ts'
import { numberText } from '../../kit/money.ts'
import {
  AgentCallForm,
  CheckIpv6Form,
  CreateProxyUserForm,
  DeleteProxyUserForm,
  ResetProxiesForm
} from '../../kit/schemas.ts'
import { risky, type FormSchema, type Question, type T } from '../kit/index.ts'

export type Values = Record<HandleField, string>
export type HandleField = 'username' | 'prefix' | 'acl_group' | 'cidrs' | 'uri' | 'json_input' | 'target'

/** Values for the questions. */
export type Known = { name: string; users: number | null; ranges: readonly string[] }

export type Handle = {
  name: HandleName
  route: Endpoint
  fields: readonly HandleField[]
  schema?: FormSchema
  confirm?: (t: T, values: Values, known: Known) => Question
  /** The reply's meaning in words. */
  say?: (t: T, reply: unknown) => string
  /** It changes users or ranges. */
  changes?: boolean
  danger?: boolean
}

const HANDLES = [
  'create_user_by_prefix',
  'delete_user',
  'delete_all_user',
  'reset_all_proxy',
  'flush_access_log',
  'list_acl',
  'get_server_info',
  'check_ipv6',
  'request_api'
] as const
export type HandleName = (typeof HANDLES)[number]
export const isHandle = (name: string): name is HandleName => HANDLES.some(handle => handle === name)

/** Ranges as typed, one per line. */
export const linesOf = (text: string): string[] => text.split(/[\s,;]+/).filter(Boolean)

/** The number of characters of the request in a question. */
const SHOWN_OF_JSON = 500

/** Every manual action on an agent. */
export const handles: readonly Handle[] = [
  {
    name: 'create_user_by_prefix',
    route: fleet.createUserByPrefix,
    fields: ['username', 'prefix', 'acl_group'],
    schema: CreateProxyUserForm,
    changes: true
  },
  {
    name: 'delete_user',
    route: fleet.deleteUser,
    fields: ['username'],
    schema: DeleteProxyUserForm,
    confirm: (t, { username }, { name }) => ({
      title: t('list.deleteTitle'),
      body: t('manage.deleteUserBody', { username: username.trim(), name }),
      danger: true
    }),
    changes: true,
    danger: true
  },
  {
    name: 'delete_all_user',
    route: fleet.deleteAllUser,
    fields: [],
    confirm: (t, _, { name, users }) =>
      risky(
        {
          title: t('list.deleteTitle'),
          body:
            users === null
              ? t('manage.deleteAllBody', { name })
              : t('manage.deleteAllCount', { name, count: numberText(users) }),
          danger: true
        },
        users ?? 0
      ),
    changes: true,
    danger: true
  },
  {
    name: 'reset_all_proxy',
    route: fleet.resetAllProxy,
    fields: ['cidrs'],
    schema: ResetProxiesForm,
    confirm: (t, { cidrs }, { name, ranges }) => {
      const keep = new Set(linesOf(cidrs))
      const go = ranges.filter(range => !keep.has(range))
      const body =
        go.length === 0
          ? t('manage.resetNone')
          : t('manage.resetBody', {
              count: go.length,
              ranges: go.slice(0, 10).join(', ') + (go.length > 10 ? ' …' : '')
            })
      return risky({ title: t('manage.resetTitle', { name }), body, danger: true }, go.length)
    },
    changes: true,
    danger: true
  },
  {
    name: 'flush_access_log',
    route: fleet.flushAccessLog,
    fields: [],
    confirm: (t, _, { name }) => ({
      title: t('manage.flushTitle'),
      body: t('manage.flushBody', { name }),
      danger: true
    }),
    danger: true
  },
  { name: 'list_acl', route: fleet.listAcl, fields: [] },
  { name: 'get_server_info', route: fleet.serverInfo, fields: [] },
  {
    name: 'check_ipv6',
    route: fleet.checkIpv6,
    fields: ['target'],
    schema: CheckIpv6Form,
    say: (t, reply) => {
      const { checks, more } = reply as Ipv6Check
      const lines = checks.map(({ prefix, address, verdict }) => t(`manage.ipv6.${verdict}`, { prefix, from: address }))
      return [...lines, ...(more > 0 ? [t('manage.ipv6.more', { count: more })] : [])].join('\n')
    }
  },
  {
    name: 'request_api',
    route: fleet.requestApi,
    fields: ['uri', 'json_input'],
    schema: AgentCallForm,
    // The call can do anything the agent can.
    confirm: (t, { uri, json_input: json }, { name }) => ({
      title: t('manage.callTitle', { name }),
      body: [
        `POST ${uri.trim()}`,
        json.length > SHOWN_OF_JSON ? `${json.slice(0, SHOWN_OF_JSON)} …` : json,
        t('manage.callBody')
      ].join('\n'),
      danger: true
    }),
    danger: true
  }
]
