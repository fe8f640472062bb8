import type { IncidentState } from '@netlet/contract'
import { day, sender, template } from './define.ts'

/** `opens`: the incident's first update. `text` may have several lines, or none. */
type StatusMail = {
  incident: number
  title: string
  state: IncidentState
  opens: boolean
  text: string
  locations: string[]
  started_at: string
  ends_at: string | null
  sealed_token: string
}

const sample: StatusMail = {
  incident: 7,
  title: 'New York: addresses do not respond',
  state: 'monitoring',
  opens: false,
  text: 'We replaced a router. All addresses respond again, and we are monitoring them.',
  locations: ['New York'],
  started_at: '2026-02-01T10:00:00.000Z',
  ends_at: null,
  sealed_token: ''
}

const STATES_EN: Record<IncidentState, string> = {
  investigating: 'Investigating',
  identified: 'Identified',
  monitoring: 'Monitoring',
  resolved: 'Resolved',
  scheduled: 'Planned maintenance',
  in_progress: 'Maintenance in progress',
  completed: 'Maintenance completed'
}
const STATES_ZH: Record<IncidentState, string> = {
  investigating: '调查中',
  identified: '已找到原因',
  monitoring: '观察中',
  resolved: '已解决',
  scheduled: '计划维护',
  in_progress: '维护进行中',
  completed: '维护已完成'
}

const page = (shopUrl: string, incident: number): string => `${shopUrl}/status?incident=${incident}`
const isPlanned = (state: IncidentState) => state === 'scheduled'

/** Mails to subscribers of the status page. The log does not name them, because they have no account here. */
export const statusTemplates = {
  'status-confirm': template<{ sealed_token: string }>({
    kind: 'support',
    unnamed: true,
    sample: { sealed_token: '' },
    content: {
      en: (data, shop) => ({
        subject: 'Confirm your subscription to incident emails',
        heading: 'Confirm your email address',
        paragraphs: [
          'Someone, probably you, subscribed this address to emails about incidents and planned maintenance of this shop.',
          'If you do not confirm, we send nothing and delete the address after 2 days.'
        ],
        button: {
          label: 'Confirm',
          url: `${shop.shopUrl}/status?confirm=${tokenOf(data, sealed => shop.open(sealed))}`
        },
        footer: sender(shop)
      }),
      'zh-CN': (data, shop) => ({
        subject: '请确认订阅事件邮件',
        heading: '请确认您的邮箱地址',
        paragraphs: [
          '有人（可能是您）请求将本店的故障事件和计划维护通知发送到此邮箱。',
          '如不确认，我们不会发送任何邮件，并在两天后删除该邮箱。'
        ],
        button: { label: '确认', url: `${shop.shopUrl}/status?confirm=${tokenOf(data, sealed => shop.open(sealed))}` },
        footer: sender(shop)
      })
    }
  }),
  'status-incident': template<StatusMail>({
    kind: 'support',
    many: true,
    unnamed: true,
    sample,
    unsubscribe: (data, open) => {
      const token = tokenOf(data, open)
      return { page: `/status?unsubscribe=${token}`, oneClick: `/api/status/unsubscribe/?token=${token}` }
    },
    content: {
      en: (data, shop) => ({
        subject: `${STATES_EN[data.state]}: ${data.title}`,
        heading: data.title,
        paragraphs: [
          ...(data.opens && !isPlanned(data.state) ? ['A new incident has begun.'] : []),
          ...(data.text ? [data.text] : [])
        ],
        facts: [
          ['State', STATES_EN[data.state]],
          ['Locations', data.locations.join(', ')],
          [isPlanned(data.state) ? 'Begins' : 'Since', day(data.started_at)],
          ...(data.ends_at ? [['Planned end', day(data.ends_at)] satisfies [string, string]] : [])
        ],
        button: { label: 'View the status page', url: page(shop.shopUrl, data.incident) },
        footer: sender(shop)
      }),
      'zh-CN': (data, shop) => ({
        subject: `${STATES_ZH[data.state]}：${data.title}`,
        heading: data.title,
        paragraphs: [
          ...(data.opens && !isPlanned(data.state) ? ['出现了新的故障事件。'] : []),
          ...(data.text ? [data.text] : [])
        ],
        facts: [
          ['状态', STATES_ZH[data.state]],
          ['地区', data.locations.join('、')],
          [isPlanned(data.state) ? '计划开始' : '开始时间', day(data.started_at)],
          ...(data.ends_at ? [['计划结束', day(data.ends_at)] satisfies [string, string]] : [])
        ],
        button: { label: '查看状态页', url: page(shop.shopUrl, data.incident) },
        footer: sender(shop)
      })
    }
  })
}

/** A preview has no token. */
const tokenOf = ({ sealed_token }: { sealed_token: string }, open: (sealed: string) => string): string =>
  sealed_token === '' ? '' : open(sealed_token)
