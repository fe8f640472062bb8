/** Tickets of the demo, sent so many days before the end. `from` is a username or a stranger. */
export const tickets: readonly {
  sent: number
  from: string | { name: string; email: string }
  phone: string
  message: string
  answer?: { after: number; text: string; by: 'admin' | 'marek' }
  closed?: boolean
}[] = [
  {
    sent: 9.2,
    from: 'duarte',
    phone: '+351 555 0142',
    message: 'Do I need one username for each address, or is it the same for the whole block?',
    answer: {
      after: 0.05,
      by: 'admin',
      text: 'One username and password for the whole order. Only the address changes from line to line.'
    },
    closed: true
  },
  {
    sent: 7.4,
    from: 'brandt',
    phone: '+49 555 0187',
    message:
      'My programme speaks SOCKS5 with the host name resolved at your side. Is that supported on the same port as HTTP?',
    answer: {
      after: 0.12,
      by: 'marek',
      text: 'Yes. The port in your lines takes HTTP, CONNECT and SOCKS5; names are resolved by the server. In curl that is --proxy socks5h://.'
    }
  },
  {
    sent: 4.6,
    from: 'novak',
    phone: '+420 555 0110',
    message:
      'I bought Harbor Datacenter by mistake, I wanted the residential plan. Nothing was used yet. Can you please refund it?',
    answer: {
      after: 0.3,
      by: 'admin',
      text: 'As nothing went through these addresses we make an exception: the full amount is on its way back to your card. The residential plan is Hearth Residential.'
    }
  },
  {
    sent: 2.6,
    from: { name: 'Imani', email: 'imani@example.net' },
    phone: '+255 555 0133',
    message: 'Hello, do you have addresses in Nairobi, or plans to open there? We would take two /24.'
  },
  {
    sent: 0.9,
    from: 'meiling',
    phone: '+86 555 0166',
    message: '续费之后 IP 会变吗？我在几个平台登记了白名单。'
  },
  {
    sent: 0.22,
    from: 'ferrari',
    phone: '+39 555 0121',
    message: 'I paid an hour ago and my order says that the payment does not cover it. What do I have to do?'
  }
]
