import { Tabs } from '@mantine/core'
import type { SavedReply, Ticket } from '@netlet/contract'
import { TICKET_QUEUES, TICKET_STATES } from '@netlet/contract/states'
import { IconEye, IconLock, IconLockOpen, IconSend } from '@tabler/icons-react'
import { useSearchParams } from 'react-router'
import { call } from '../../api/client.ts'
import { mail, support } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { mayLeave } from '../../kit/leaving.ts'
import { none } from '../../kit/none.tsx'
import { SavedReplyForm } from '../../kit/schemas.ts'
import { Ago } from '../../kit/time.tsx'
import {
  TabBar,
  areaField,
  column,
  defineResource,
  integer,
  moment,
  oneOf,
  stateBack,
  textField
} from '../kit/index.ts'
import { MessageCell, StateCell } from './cells.tsx'
import { TicketDrawer } from './thread.tsx'
import classes from './tickets.module.css'
import '../../kit/styles/forms.ts'

/** Customers' and visitors' questions: a list by who waits longest, each with its messages. */
const TicketList = defineResource({
  key: 'tickets',
  list: support.tickets,
  also: [support.ticket, mail.mails],
  find: id => call(support.ticket, { params: { id } }),
  nameOf: row => row.username,
  columns: [
    integer('id'),
    column('email', (row: Ticket) => <span className={classes.email}>{row.email}</span>, { lead: true }),
    column('username', (row: Ticket) => row.username),
    column('phone', (row: Ticket) => <span className={classes.phone}>{row.phone}</span>),
    column('message', (row: Ticket) => <MessageCell ticket={row} />, { wide: true }),
    column('state', (row: Ticket) => <StateCell ticket={row} />),
    column('waiting_since', (row: Ticket) => (row.waiting_since ? <Ago at={row.waiting_since} /> : none)),
    column('assignee', (row: Ticket) => row.assignee?.username ?? none),
    moment('created_at', { optional: true })
  ],
  sort: ['id', 'waiting_since'],
  filters: [
    { ...oneOf('queue', TICKET_QUEUES, 'tickets.queueIs'), byTabs: true },
    oneOf('state', TICKET_STATES, 'tickets.is')
  ],
  rowActions: [
    { name: 'view', icon: IconEye, run: (row, tools) => tools.show(row.id) },
    { name: 'reply', icon: IconSend, run: (row, tools) => tools.show(row.id), needs: support.answerTicket },
    {
      name: 'close',
      icon: IconLock,
      whyNot: row => (row.state === 'closed' ? 'whyNot.closed' : undefined),
      route: support.closeTicket,
      undo: (row, reply) => stateBack(row, reply, { route: support.reopenTicket, expected: 'closed' }),
      success: t => t('tickets.closed')
    },
    {
      name: 'reopen',
      icon: IconLockOpen,
      whyNot: row => (row.state === 'closed' ? undefined : 'whyNot.notClosed'),
      route: support.reopenTicket,
      undo: (row, reply) => stateBack(row, reply, { route: support.closeTicket, expected: (reply as Ticket).state }),
      success: t => t('tickets.reopened')
    }
  ],
  remove: {
    route: support.deleteTicket,
    confirm: (t, row) => ({
      title: t('list.deleteTitle'),
      body: t('tickets.deleteBody', { name: row.username }),
      danger: true
    })
  },
  problem: row => row.mail?.state === 'failed',
  moving: row => row.mail?.state === 'waiting',
  drawer: TicketDrawer,
  csv: true
})

const SavedReplies = defineResource({
  key: 'replies',
  list: support.savedReplies,
  address: ['tab'],
  nameOf: row => row.title,
  columns: [
    column('title', (row: SavedReply) => <span className="breaks">{row.title}</span>, { lead: true }),
    column('text', (row: SavedReply) => <span className="clamped lines">{row.text}</span>, { wide: true })
  ],
  sort: ['title', 'id'],
  form: {
    schema: SavedReplyForm,
    fields: [textField('title'), areaField('text', { rows: 10 })],
    create: support.createSavedReply,
    update: support.updateSavedReply,
    undo: true
  },
  remove: { route: support.deleteSavedReply }
})

const TABS = ['all', ...TICKET_QUEUES, 'replies'] as const
type TabId = (typeof TABS)[number]

/** The address of each tab. Those who wait longest come first. */
const ADDRESS: Record<TabId, Record<string, string>> = {
  all: {},
  mine: { queue: 'mine' },
  unassigned: { queue: 'unassigned' },
  waiting: { queue: 'waiting', sort: 'waiting_since.asc' },
  replies: { tab: 'replies' }
}

/** The tickets by queue, and the saved replies. */
export default function TicketsPage() {
  const t = useT()
  const [params, setParams] = useSearchParams()
  const asked = params.get('tab') === 'replies' ? 'replies' : params.get('queue')
  const tab = TABS.find(id => id === asked) ?? 'all'
  const choose = async (id: TabId) => {
    if (await mayLeave()) setParams(ADDRESS[id])
  }
  return (
    <Tabs value={tab} onChange={id => void choose(id as TabId)} keepMounted={false}>
      <TabBar value={tab}>
        {TABS.map(id => (
          <Tabs.Tab key={id} value={id}>
            {t(id === 'all' || id === 'replies' ? `tickets.tab.${id}` : `tickets.queueIs.${id}`)}
          </Tabs.Tab>
        ))}
      </TabBar>
      <Tabs.Panel value={tab} pt="md">
        {tab === 'replies' ? <SavedReplies /> : <TicketList />}
      </Tabs.Panel>
    </Tabs>
  )
}
