import type { BulkRun, Server } from '@netlet/contract'
import { SERVER_VIEWS } from '@netlet/contract/states'
import { pageAt } from '@netlet/contract/pages'
import {
  IconAdjustments,
  IconArrowBackUp,
  IconArrowsTransferUp,
  IconClockX,
  IconCloudDownload,
  IconCloudUp,
  IconDropletDown,
  IconFingerprint,
  IconHistory,
  IconKey,
  IconListCheck,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlugConnectedX,
  IconTransferIn,
  IconUserMinus
} from '@tabler/icons-react'
import { call } from '../../api/client.ts'
import { fleet } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { MoveOrdersForm, OutageForm, ServerForm } from '../../kit/schemas.ts'
import {
  areaField,
  column,
  defineResource,
  idField,
  instantField,
  numberField,
  oneOf,
  optional,
  risky,
  secretField,
  stateBack,
  noteFields,
  switchField,
  textField,
  type Tools
} from '../kit/index.ts'
import { AgentCell, ConnectedCell, HealthCell, NameCell, RangesCell, StateCell, UseCell } from './cells.tsx'
import { ServerDrawer } from './drawer.tsx'
import { acceptHostKey, installAgent } from './steps.tsx'
import { ManageServer } from './manage.tsx'
import { installs, isChanging, isInstalling, needsAttention, useServerGroups, useServers } from './state.ts'
import { approvePlan, takeOver } from './ownership.ts'
import { editQuestion, planQuestion } from './plans.ts'
import { chosenText, UpgradeDialog } from './upgrade/dialog.tsx'
import { UpgradePanel } from './upgrade/panel.tsx'

/** Above the list of servers: the current or last upgrade, and the dialog that starts one. */
function Upgrades() {
  return (
    <>
      <UpgradePanel />
      <UpgradeDialog />
    </>
  )
}

/** Shows the progress of the orders that leave the server. */
const follow = (reply: unknown, { watch }: Tools) => {
  const run = reply as BulkRun | null
  if (run) watch(run.id)
}
const TEXTS = new Set(['name', 'description', 'port'])
function whyNotUsed({ status }: Server) {
  if (status === 'given_up') return 'whyNot.givenUp'
  return status === 'returning' ? 'whyNot.returning' : undefined
}

/** The machines whose addresses are sold: their state, their agents and actions. */
export default defineResource({
  key: 'servers',
  list: fleet.servers,
  address: ['ranges', 'handle', 'upgrade'],
  // The traffic's range.
  addressOfDetail: ['span'],
  also: [fleet.server, fleet.groups, fleet.allOutages],
  nameOf: server => server.name,
  find: id => call(fleet.server, { params: { id } }),
  problem: needsAttention,
  moving: isChanging,
  columns: [
    column('name', (server: Server) => <NameCell server={server} />, { lead: true }),
    column('server_status', (server: Server) => <ConnectedCell server={server} />),
    column('state', (server: Server) => <StateCell server={server} />),
    column('health', (server: Server) => <HealthCell server={server} />, { wide: true }),
    column('cidrs', (server: Server) => <RangesCell server={server} />, { wide: true }),
    column('use', (server: Server) => <UseCell server={server} />),
    column('agent', (server: Server) => <AgentCell server={server} />)
  ],
  filters: [oneOf('state', SERVER_VIEWS, 'servers.view')],
  above: Upgrades,
  batch: [
    {
      name: 'server.upgrade',
      icon: IconCloudUp,
      run: (selected, open) => open({ upgrade: chosenText(selected) }),
      needs: fleet.startUpgrade
    }
  ],
  drawer: ServerDrawer,
  detail: ManageServer,
  form: {
    schema: ServerForm,
    create: fleet.createServer,
    update: fleet.updateServer,
    fields: [
      textField('name'),
      textField('ip', { mono: true }),
      {
        ...areaField('cidr', {
          mono: true,
          rows: 7,
          shown: (_, row) => ((row as Partial<Server>).cidrs ?? []).map(({ cidr }) => cidr).join('\n')
        }),
        help: t => t('servers.cidrHelp')
      },
      optional(areaField('description', { rows: 2 })),
      optional(numberField('port', { standard: 22 })),
      { ...secretField('password'), help: t => t('servers.passwordHelp') },
      optional(numberField('agent_port', { standard: 65533 })),
      { ...secretField('agent_token'), help: t => t('servers.tokenHelp') },
      {
        ...optional(areaField('agent_certificate', { mono: true, rows: 4, shown: () => '' })),
        // Empty means unchanged.
        sent: value => (value.trim() === '' ? undefined : value),
        help: t => t('servers.certificateHelp')
      },
      { ...switchField('forget_certificate'), only: 'edit', help: t => t('servers.dropHelp') },
      optional(numberField('proxy_port', { standard: 3128 })),
      { ...switchField('run_init'), help: t => t('servers.runInitHelp') },
      { ...switchField('update_cidr'), help: t => t('servers.updateCidrHelp') },
      {
        ...optional(textField('host_key', { mono: true })),
        // The known key is shown beside the list; this field sets a new one.
        shown: () => '',
        help: t => t('servers.hostKeyHelp')
      }
    ],
    confirm: editQuestion,
    // Undo cannot restore secrets, ranges or how the agent is reached.
    undo: ({ former, sent }) =>
      Object.keys(sent).every(name => TEXTS.has(name) || name === 'version' || former[name] === sent[name])
  },
  rowActions: [
    { name: 'manage', icon: IconAdjustments, run: (server, { detail }) => detail(server.id), needs: fleet.requestApi },
    {
      name: 'outages',
      icon: IconHistory,
      run: (server, { go }) => go(`${pageAt('outages')}?server_id=${server.id}`)
    },
    {
      name: 'add_outage',
      icon: IconClockX,
      form: {
        schema: OutageForm,
        fields: [{ ...instantField('started_at'), help: t => t('servers.outageHelp') }, instantField('ended_at')],
        route: fleet.addOutage
      }
    },
    {
      name: 'install',
      icon: IconCloudDownload,
      whyNot: server => (installs(server) ? 'whyNot.installing' : undefined),
      run: installAgent,
      needs: fleet.provision
    },
    {
      name: 'pause',
      icon: IconPlayerPause,
      route: fleet.pause,
      whyNot: server => whyNotUsed(server) ?? (server.status === 'paused' ? 'whyNot.paused' : undefined),
      confirm: (t, server) =>
        planQuestion(t, server, 'pause', { title: 'servers.pauseTitle', body: 'servers.pauseBody' }),
      // Undo would make a draining server sell again.
      undo: (server, reply) =>
        server.status === 'active' ? stateBack(server, reply, { route: fleet.resume, expected: 'paused' }) : undefined
    },
    {
      name: 'resume',
      icon: IconPlayerPlay,
      route: fleet.resume,
      whyNot: server => whyNotUsed(server) ?? (server.status === 'active' ? 'whyNot.active' : undefined),
      undo: (server, reply) =>
        server.status === 'paused' ? stateBack(server, reply, { route: fleet.pause, expected: 'active' }) : undefined
    },
    {
      name: 'drain',
      icon: IconDropletDown,
      route: fleet.drain,
      whyNot: whyNotUsed,
      confirm: (t, server) =>
        planQuestion(t, server, 'drain', { title: 'servers.drainTitle', body: 'servers.drainBody' }),
      done: follow
    },
    {
      name: 'move',
      icon: IconArrowsTransferUp,
      whyNot: server => (server.status === 'given_up' ? 'whyNot.givenUp' : undefined),
      form: {
        schema: MoveOrdersForm,
        fields: [
          idField('server_id', { useOptions: useServers, useNone: () => useT()('orders.toAny') }),
          idField('group_id', { useOptions: useServerGroups, useNone: () => useT()('orders.toOwnGroup') }),
          ...noteFields
        ],
        route: fleet.moveOrders
      },
      confirm: (t, server, { server_id, group_id }) =>
        planQuestion(t, server, 'move', {
          title: 'servers.moveTitle',
          body: 'servers.moveBody',
          to: { server_id, group_id }
        }),
      done: follow
    },
    {
      name: 'approve',
      icon: IconUserMinus,
      danger: true,
      route: fleet.applyRemovals,
      whyNot: server => (server.trouble?.code === 'removals_waiting' ? undefined : 'whyNot.noRemovals'),
      confirm: (t, server) => {
        const count = Number(server.trouble?.params['count'] ?? 0)
        const body = t('servers.approveBody', { name: server.name, count })
        return risky({ title: t('servers.approveTitle'), body, danger: true }, count)
      }
    },
    {
      name: 'approve_plan',
      icon: IconListCheck,
      danger: true,
      whyNot: server => (server.trouble?.code === 'older_console' ? undefined : 'whyNot.noPlan'),
      run: approvePlan,
      needs: fleet.approvePlan
    },
    {
      name: 'accept_host_key',
      icon: IconFingerprint,
      danger: true,
      whyNot: server =>
        isInstalling(server) ? 'whyNot.installing' : server.host_key.refused === null ? 'whyNot.noOtherKey' : undefined,
      run: acceptHostKey,
      needs: fleet.acceptHostKey
    },
    {
      name: 'take_over',
      icon: IconTransferIn,
      danger: true,
      whyNot: server => (server.trouble?.code === 'foreign_console' ? undefined : 'whyNot.notForeign'),
      run: takeOver,
      needs: fleet.takeOver
    },
    {
      name: 'rotate_token',
      icon: IconKey,
      route: fleet.rotateToken,
      confirm: (t, server) => ({
        title: t('servers.rotateTokenTitle', { name: server.name }),
        body: t('servers.rotateTokenBody')
      })
    },
    {
      name: 'give_up',
      icon: IconPlugConnectedX,
      danger: true,
      route: fleet.giveUp,
      whyNot: server => (server.status === 'given_up' ? 'whyNot.givenUp' : undefined),
      confirm: (t, server) =>
        planQuestion(t, server, 'give_up', { title: 'servers.giveUpTitle', body: 'servers.giveUpBody' }),
      done: follow
    },
    {
      name: 'take_back',
      icon: IconArrowBackUp,
      route: fleet.takeBack,
      whyNot: server => (server.status === 'given_up' ? undefined : 'whyNot.notGivenUp'),
      confirm: (t, server) => ({
        title: t('servers.takeBackTitle', { name: server.name }),
        body: t('servers.takeBackBody')
      })
    }
  ],
  remove: {
    route: fleet.deleteServer,
    whyNot: server =>
      server.orders > 0 ? 'whyNot.hasOrders' : isInstalling(server) ? 'whyNot.cancelInstall' : undefined,
    confirm: (t, server) => planQuestion(t, server, 'delete', { title: 'list.deleteTitle', body: 'servers.deleteBody' })
  },
  csv: true
})
