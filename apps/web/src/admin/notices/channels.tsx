import { IconSend } from '@tabler/icons-react'
import type { NoticeChannel } from '@netlet/contract'
import { NOTICE_CHANNELS } from '@netlet/contract/notice-causes'
import { useQuery } from '@tanstack/react-query'
import { call } from '../../api/client.ts'
import { read } from '../../api/query.ts'
import { accounts, notices } from '../../api/routes.ts'
import { failureText } from '../../i18n/failures.ts'
import { notify } from '../../kit/notify.ts'
import { NoticeChannelForm } from '../../kit/schemas.ts'
import {
  choiceField,
  column,
  defineResource,
  idsField,
  optional,
  secretField,
  switchField,
  textField,
  type T
} from '../kit/index.ts'
import { ChannelState, Kind, Target, Tells } from './cells.tsx'

/** More administrators than any shop has. */
const MOST = 200

function useOperators() {
  const { data } = useQuery(read(accounts.users, { query: { is_superuser: '1', limit: MOST } }))
  return data?.data.map(({ id, username }) => ({ value: String(id), label: username }))
}

const flag = <const N extends string>(name: N) => ({ ...switchField(name), sent: (value: string) => value === '1' })

/** Channels that notify operators: what each gets at once, and whether it gets the digest. */
export const NoticeChannels = defineResource({
  key: 'notice-channels',
  list: notices.channels,
  address: ['tab'],
  nameOf: row => row.name,
  columns: [
    column('name', (row: NoticeChannel) => <strong>{row.name}</strong>, { lead: true }),
    column('kind', (row: NoticeChannel) => <Kind row={row} />),
    column('target', (row: NoticeChannel) => <Target row={row} />, { wide: true }),
    column('tells', (row: NoticeChannel) => <Tells row={row} />),
    column('state', (row: NoticeChannel) => <ChannelState row={row} />)
  ],
  sort: ['id'],
  form: {
    schema: NoticeChannelForm,
    create: notices.createChannel,
    update: notices.updateChannel,
    // A replaced secret cannot be restored.
    undo: ({ sent }) => !sent['target'] && !sent['secret'],
    fields: [
      textField('name'),
      { ...choiceField('kind', NOTICE_CHANNELS, 'notice-channels.kindOf'), only: 'new' },
      choiceField('language', ['en', 'zh-CN'], 'tickets.in'),
      { ...secretField('target'), help: t => t('notice-channels.targetHelp') },
      { ...secretField('secret'), help: t => t('notice-channels.secretHelp') },
      {
        ...optional(idsField('user_ids', { useOptions: useOperators })),
        help: (t: T) => t('notice-channels.userHelp')
      },
      flag('tell_critical'),
      flag('tell_warning'),
      flag('tell_info'),
      flag('digest'),
      flag('enabled')
    ]
  },
  remove: {
    route: notices.deleteChannel,
    confirm: (t, row) => ({
      title: t('list.deleteTitle'),
      body: t('notice-channels.deleteBody', { name: row.name }),
      danger: true
    })
  },
  rowActions: [
    {
      name: 'test',
      icon: IconSend,
      needs: notices.testChannel,
      run: (row, tools) => void test(row, tools.t).finally(tools.refresh)
    }
  ],
  problem: row => row.failing_since !== null
})

const ASK_EVERY = 700
const ASK_FOR = 30_000

/** Sends a test and waits for its result. */
async function test(row: NoticeChannel, t: T): Promise<void> {
  try {
    const { send_id: id } = await call(notices.testChannel, { params: { id: row.id }, body: {} })
    for (let waited = 0; waited < ASK_FOR; waited += ASK_EVERY) {
      await new Promise(resolve => setTimeout(resolve, ASK_EVERY))
      const { state, failure, status, detail } = await call(notices.send, { params: { id } })
      if (state === 'waiting') continue
      if (state === 'sent') return notify('good', t('notice-channels.tested', { name: row.name }))
      const why = failure ? t(`notices.why.${failure}`, { status: status ?? '–' }) : ''
      return notify('bad', [t('notice-channels.testFailed', { name: row.name }), why, detail ?? ''].join(' ').trim())
    }
    notify('info', t('notice-channels.testWaits', { name: row.name }))
  } catch (error) {
    notify('bad', failureText(error))
  }
}
