import { sender, template } from './define.ts'

/** `message`: the ticket's text. Both may have several lines. */
type TicketAnswer = { username: string; ticket: number; message: string; answer: string }

/** Mails to people who wrote to the operators. */
export const supportTemplates = {
  'ticket-answer': template<TicketAnswer>({
    kind: 'support',
    sample: {
      username: 'demo1',
      ticket: 42,
      message: 'My proxies do not connect.\nWhat can I do?',
      answer: 'Your IP was not allowed yet. It is now, so please try again.'
    },
    content: {
      en: (data, shop) => ({
        subject: `Reply to your ticket #${data.ticket}`,
        heading: `Hello ${data.username}, here is our reply`,
        paragraphs: [data.answer, 'You wrote:', quoted(data.message)],
        footer: sender(shop)
      }),
      'zh-CN': (data, shop) => ({
        subject: `您的工单 #${data.ticket} 已有回复`,
        heading: `${data.username}，您好，以下是我们的回复`,
        paragraphs: [data.answer, '您的留言：', quoted(data.message)],
        footer: sender(shop)
      })
    }
  })
}

const quoted = (text: string): string =>
  text
    .split('\n')
    .map(line => `> ${line}`)
    .join('\n')
