import { day, sender, template } from './define.ts'

/** The sender provides the words, in the recipient's language. */
type Notice = { subject: string; heading: string; text: string; url: string; link: string }

const notice = ({ subject, heading, text, url, link }: Notice) => ({
  subject,
  heading,
  paragraphs: text.split(/\n{2,}/),
  button: { label: link, url }
})

export const operatorTemplates = {
  notice: template<Notice>({
    kind: 'operator',
    sample: {
      subject: '[Critical] Server fr-1 does not respond',
      heading: 'Server fr-1 does not respond',
      text: 'The agent on server fr-1 (192.0.2.1) has not responded since 2026-01-05 10:00 UTC.',
      url: 'https://shop.example.com/dashboard/index/servers',
      link: 'Open in the console'
    },
    content: {
      en: (data, shop) => ({
        ...notice(data),
        footer: `You get this email as an operator of ${shop.shopUrl}. To choose who gets which notices, open Notices in the console.`
      }),
      'zh-CN': (data, shop) => ({
        ...notice(data),
        footer: `您是 ${shop.shopUrl} 的管理员，因此收到此邮件。控制台的“通知”页面可设置由谁接收。`
      })
    }
  }),
  // From earlier versions: such mails may still wait, or be sent again.
  'admin-notice': template<{ subject: string; text: string }>({
    kind: 'operator',
    sample: {
      subject: 'Server fr-1 does not respond',
      text: 'The agent on server fr-1 did not respond 5 times in a row.'
    },
    content: {
      en: (data, shop) => ({
        subject: data.subject,
        heading: data.subject,
        paragraphs: data.text.split(/\n{2,}/),
        footer: `You get this email as an operator of ${shop.shopUrl}`
      }),
      'zh-CN': (data, shop) => ({
        subject: data.subject,
        heading: data.subject,
        paragraphs: data.text.split(/\n{2,}/),
        footer: `您是 ${shop.shopUrl} 的管理员，因此收到此邮件`
      })
    }
  }),
  'events-waiting': template<{ count: number; since: string; reason: string | null }>({
    kind: 'operator',
    sample: { count: 3, since: '2026-01-05T10:00:00.000Z', reason: 'column "waits_for" does not exist' },
    content: {
      en: (data, shop) => ({
        subject: `Unprocessed platform events: ${data.count}`,
        heading: 'The shop cannot process platform events',
        paragraphs: [
          'Payments, refunds or product changes from the platform have been waiting for more than 1 hour. A database problem prevents their processing. The shop processes them automatically once the database works.',
          'Health in the console shows how many are waiting. Check the workers’ log, and that all processes run the same version.'
        ],
        facts: [
          ['Events', String(data.count)],
          ['Waiting since', day(data.since)],
          ['Reason', data.reason ?? 'unknown']
        ],
        button: { label: 'Open Health', url: `${shop.shopUrl}/dashboard/index/health` },
        footer: `You get this email as an operator of ${shop.shopUrl}`
      }),
      'zh-CN': (data, shop) => ({
        subject: `${data.count} 个平台事件等待处理`,
        heading: '平台事件无法处理',
        paragraphs: [
          '来自平台的付款、退款或产品变更已等待超过 1 小时，原因是数据库故障。数据库恢复后，这些事件会自动处理。',
          '控制台的“运行状况”显示等待数量。请查看工作进程的日志，并确认所有进程运行的是同一版本。'
        ],
        facts: [
          ['事件数量', String(data.count)],
          ['最早到达', day(data.since)],
          ['原因', data.reason ?? '未知']
        ],
        button: { label: '打开运行状况', url: `${shop.shopUrl}/dashboard/index/health` },
        footer: `您是 ${shop.shopUrl} 的管理员，因此收到此邮件`
      })
    }
  }),
  'test-mail': template<{ at: string }>({
    kind: 'operator',
    sample: { at: '2026-01-05T10:00:00.000Z' },
    content: {
      en: (data, shop) => ({
        subject: 'Your shop’s email settings work',
        heading: 'The email settings work',
        paragraphs: [`An operator requested this email under Web Settings on ${day(data.at)}.`],
        footer: sender(shop)
      }),
      'zh-CN': (data, shop) => ({
        subject: '本店的邮件设置可用',
        heading: '邮件设置可用',
        paragraphs: [`管理员于 ${day(data.at)} 在“网站设置”中请求发送此邮件。`],
        footer: sender(shop)
      })
    }
  })
}
