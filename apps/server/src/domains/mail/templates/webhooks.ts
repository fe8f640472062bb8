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
        subject: `Your webhook endpoint at ${data.host} was switched off`,
        heading: `Hello ${data.username}, your webhook endpoint was switched off`,
        paragraphs: [
          data.why === 'gone'
            ? `${data.host} answered 410 (Gone), which asks for no more events.`
            : `For days ${data.host} has not taken an event.`,
          'Nothing is sent there any more. The log in your settings says what came back; when it works again, switch the endpoint on there, and send again what it missed.'
        ],
        button: { label: 'Open the settings', url: data.settings_url },
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
