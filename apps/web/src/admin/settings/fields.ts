import type { Settings, SettingTest } from '@netlet/contract'
import type { Key } from '../../i18n/admin.ts'

type Name = keyof Settings
type After<P extends string> = Key extends infer K ? (K extends `${P}${infer N}` ? N : never) : never

export type SettingField = {
  name: Name
  kind: 'text' | 'secret' | 'number' | 'flag' | 'choice' | 'lines' | 'colour' | 'zone' | 'area'
  unit?: After<'webSettings.unit.'>
}
type Group = { title: After<'webSettings.group.'>; fields: readonly SettingField[] }
export type Tab = { id: After<'webSettings.tab.'>; groups: readonly Group[]; tests: readonly SettingTest[] }

const text = (name: Name): SettingField => ({ name, kind: 'text' })
const secret = (name: Name): SettingField => ({ name, kind: 'secret' })
const number = (name: Name, unit?: SettingField['unit']): SettingField =>
  unit ? { name, kind: 'number', unit } : { name, kind: 'number' }

/** Every setting by tab. The last tab, with the logs, has none. */
export const TABS: readonly Tab[] = [
  {
    id: 'discord',
    tests: ['chat'],
    groups: [
      {
        title: 'login',
        fields: [
          text('discord_client_id'),
          secret('discord_client_secret'),
          text('discord_redirect_uri'),
          text('discord_bind_redirect_uri')
        ]
      },
      {
        title: 'bot',
        fields: [
          secret('discord_bot_token'),
          text('discord_bot_channels'),
          number('discord_bot_points_per_message', 'coins'),
          number('discord_bot_max_points_per_day', 'coins')
        ]
      }
    ]
  },
  {
    id: 'shopify',
    tests: ['platform', 'webhook_secret'],
    groups: [
      {
        title: 'connection',
        fields: [
          text('shopify_shop_url'),
          text('shopify_api_key'),
          secret('shopify_api_secret'),
          secret('shopify_app_key'),
          number('webhook_secret_overlap_hours', 'hours')
        ]
      },
      { title: 'payments', fields: [text('shop_currency'), { name: 'accept_test_payments', kind: 'flag' }] }
    ]
  },
  {
    id: 'email',
    tests: ['mail'],
    groups: [
      {
        title: 'mail',
        fields: [{ name: 'email_method', kind: 'choice' }, text('email_from'), number('email_code_expire', 'seconds')]
      },
      {
        title: 'services',
        fields: [
          secret('sendgrid_api_key'),
          text('sendgrid_webhook_key'),
          secret('mailgun_api_key'),
          text('mailgun_sender_domain'),
          secret('mailgun_webhook_key'),
          text('email_dkim_selector')
        ]
      }
    ]
  },
  {
    id: 'system',
    tests: [],
    groups: [
      { title: 'links', fields: [text('support_twitter'), text('support_discord')] },
      {
        title: 'points',
        fields: [
          number('invite_level_points_per_user', 'points'),
          number('billing_rate'),
          number('level_points_decay_rate'),
          number('level_points_decay_day', 'day'),
          number('invite_rebate_rate'),
          number('coins_hold_days', 'days')
        ]
      },
      {
        title: 'orders',
        fields: [
          number('max_unpaid_orders', 'orders'),
          number('max_unpaid_addresses', 'addresses'),
          number('max_new_customer_addresses', 'addresses'),
          number('grace_hours', 'hours'),
          number('customer_changes_per_term', 'times'),
          number('customer_resets_per_term', 'times')
        ]
      },
      {
        title: 'servers',
        fields: [
          number('unreachable_after', 'minutes'),
          number('rescue_after', 'minutes'),
          number('quarantine_hours', 'hours')
        ]
      },
      {
        title: 'security',
        fields: [
          { name: 'operators_need_second_factor', kind: 'flag' },
          number('operator_session_hours', 'hours'),
          number('customer_session_days', 'days'),
          number('operator_confirm_minutes', 'minutes'),
          number('confirm_refunds_from'),
          text('security_contact')
        ]
      },
      { title: 'webhooks', fields: [{ name: 'webhooks_allow_http', kind: 'flag' }] },
      {
        title: 'retention',
        fields: [
          number('keep_logs_days', 'days'),
          number('keep_mails_days', 'days'),
          number('keep_mail_contents_days', 'days'),
          number('keep_audit_days', 'days'),
          number('keep_event_payloads_days', 'days'),
          number('keep_events_days', 'days'),
          number('keep_bulk_runs_days', 'days'),
          number('keep_order_history_days', 'days'),
          number('keep_retired_proxies_days', 'days'),
          number('keep_unpaid_orders_days', 'days')
        ]
      }
    ]
  },
  {
    id: 'brand',
    tests: [],
    groups: [
      { title: 'look', fields: [text('shop_name'), { name: 'shop_accent', kind: 'colour' }] },
      {
        title: 'mailLook',
        fields: [
          { name: 'shop_time_zone', kind: 'zone' },
          { name: 'mail_footer', kind: 'area' }
        ]
      }
    ]
  },
  { id: 'geofeed', tests: [], groups: [{ title: 'geofeed', fields: [{ name: 'geofeed', kind: 'lines' }] }] },
  { id: 'logs', tests: [], groups: [] }
]

export const tabOf = (name: string): Tab['id'] | undefined =>
  TABS.find(({ groups }) => groups.some(({ fields }) => fields.some(field => field.name === name)))?.id

/** Whether a setting can be written but never read. */
export const isSecret = (name: string): boolean =>
  TABS.some(({ groups }) => groups.some(({ fields }) => fields.some(one => one.name === name && one.kind === 'secret')))
