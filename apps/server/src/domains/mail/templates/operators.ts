import { template } from './define.ts'

type Notice = { subject: string; text: string }

export const operatorTemplates = {
  'admin-notice': template<Notice>({
    kind: 'operator',
    sample: {
      subject: 'Server fr-1 does not answer',
      text: 'The agent of server fr-1 has not answered 5 times in a row.'
    },
    content: {
      en: (data, shop) => ({
        subject: data.subject,
        heading: data.subject,
        paragraphs: data.text.split(/\n{2,}/),
        footer: `You get this mail as an administrator of ${shop.shopUrl}`
      }),
      'zh-CN': (data, shop) => ({
        subject: data.subject,
        heading: data.subject,
        paragraphs: data.text.split(/\n{2,}/),
        footer: `您是 ${shop.shopUrl} 的管理员，因此收到此邮件`
      })
    }
  })
}
