import { sender, template, type TemplateContext } from './define.ts'

/**
 * `message`: the customer's newest one. Both texts may have several lines. `own`: the ticket is on the Support page of an
 * account; mails queued by old versions lack it.
 */
type TicketAnswer = { username: string; ticket: number; message: string; answer: string; own?: boolean }

/** Mails to people who wrote to the operators. */
export const supportTemplates = {
  'ticket-answer': template<TicketAnswer>({
    kind: 'support',
    sample: {
      username: 'demo1',
      ticket: 42,
      message: 'My proxies do not connect.\nWhat can I do?',
      answer: 'Your IP was not allowed yet. It is now, so please try again.',
      own: true
    },
    content: {
      en: (data, shop) => ({
        subject: `Reply to your ticket #${data.ticket}`,
        heading: `Hello ${data.username}, here is our reply`,
        paragraphs: [data.answer, 'You wrote:', quoted(data.message)],
        ...(data.own && { button: { label: 'Open the ticket', url: pageOf(data, shop) } }),
        footer: sender(shop)
      }),
      'zh-CN': (data, shop) => ({
        subject: `您的工单 #${data.ticket} 已有回复`,
        heading: `${data.username}，您好，以下是我们的回复`,
        paragraphs: [data.answer, '您的留言：', quoted(data.message)],
        ...(data.own && { button: { label: '查看工单', url: pageOf(data, shop) } }),
        footer: sender(shop)
      })
    }
  })
}

const pageOf = ({ ticket }: TicketAnswer, { shopUrl }: TemplateContext): string => `${shopUrl}/support?ticket=${ticket}`

const quoted = (text: string): string =>
  text
    .split('\n')
    .map(line => `> ${line}`)
    .join('\n')
