import { sender, template } from './define.ts'

type Off = { username: string; host: string; why: 'failing' | 'gone'; settings_url: string }

const sample: Off = {
  username: 'Ann',
  host: 'hooks.example.com',
  why: 'failing',
  settings_url: 'https://shop.example.com/dashboard/index/setting'
}

export const webhookTemplates = {
  'webhook-off': template<Off>({
    kind: 'security',
    sample,
    content: {
      en: (data, shop) => ({
        subject: `Your webhook endpoint at ${data.host} was turned off`,
        heading: `Hello ${data.username}, your webhook endpoint was turned off`,
        paragraphs: [
          data.why === 'gone'
            ? `${data.host} answered 410 (Gone), which tells us to stop sending events.`
            : `${data.host} has not accepted an event for days.`,
          'We no longer send events there. The log in your settings shows the responses. When the endpoint works again, turn it on there and resend what it missed.'
        ],
        button: { label: 'Open settings', url: data.settings_url },
        footer: sender(shop)
      }),
      'zh-CN': (data, shop) => ({
        subject: `您在 ${data.host} 的 Webhook 端点已停用`,
        heading: `${data.username}，您好，您的 Webhook 端点已停用`,
        paragraphs: [
          data.why === 'gone'
            ? `${data.host} 返回了 410（Gone），表示不再接收事件。`
            : `${data.host} 已连续数天未接收任何事件。`,
          '我们不再向该地址发送事件。设置页的日志记录了返回内容；恢复正常后，请在那里重新启用该端点，并重新发送错过的事件。'
        ],
        button: { label: '打开设置', url: data.settings_url },
        footer: sender(shop)
      })
    }
  })
}
