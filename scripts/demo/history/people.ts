export type Person = {
  username: string
  email: string
  language?: 'en' | 'zh-CN'
  /** Days before the end of the history. */
  joined: number
  /** The user who invited this one and joined earlier. */
  invitedBy?: string
  ip: string
  browser: keyof typeof BROWSERS
}

export const BROWSERS = {
  mac: 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36',
  windows: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:144.0) Gecko/20100101 Firefox/144.0',
  linux: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36',
  iphone:
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1',
  android:
    'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile Safari/537.36'
}

/** The demo's customers. Their mail and IP addresses are reserved for documentation. */
export const people: readonly Person[] = [
  { username: 'okafor', email: 'c.okafor@example.com', joined: 10.9, ip: '192.0.2.14', browser: 'mac' },
  { username: 'lindqvist', email: 'sara.lindqvist@example.org', joined: 10.7, ip: '192.0.2.77', browser: 'windows' },
  { username: 'tanaka', email: 'y.tanaka@example.net', joined: 10.6, ip: '198.51.100.23', browser: 'mac' },
  {
    username: 'meiling',
    email: 'meiling.chen@example.com',
    language: 'zh-CN',
    joined: 10.4,
    ip: '198.51.100.61',
    browser: 'windows'
  },
  { username: 'duarte', email: 'ines.duarte@example.org', joined: 10.2, ip: '203.0.113.9', browser: 'linux' },
  { username: 'kowalski', email: 'piotr.k@example.net', joined: 9.8, ip: '203.0.113.42', browser: 'windows' },
  {
    username: 'osei',
    email: 'ama.osei@example.com',
    joined: 9.1,
    invitedBy: 'okafor',
    ip: '192.0.2.101',
    browser: 'android'
  },
  { username: 'brandt', email: 'j.brandt@example.org', joined: 8.6, ip: '198.51.100.130', browser: 'linux' },
  { username: 'novak', email: 'petra.novak@example.net', joined: 7.7, ip: '203.0.113.88', browser: 'mac' },
  {
    username: 'haruki',
    email: 'haruki.s@example.com',
    joined: 6.8,
    invitedBy: 'tanaka',
    ip: '198.51.100.24',
    browser: 'iphone'
  },
  { username: 'ferrari', email: 'luca.ferrari@example.org', joined: 5.9, ip: '192.0.2.150', browser: 'windows' },
  {
    username: 'mbeki',
    email: 'thandi.mbeki@example.net',
    joined: 5.2,
    invitedBy: 'okafor',
    ip: '203.0.113.170',
    browser: 'mac'
  },
  {
    username: 'zhaowei',
    email: 'zhao.wei@example.com',
    language: 'zh-CN',
    joined: 4.4,
    invitedBy: 'meiling',
    ip: '198.51.100.201',
    browser: 'android'
  },
  { username: 'oneill', email: 'maeve.oneill@example.org', joined: 3.3, ip: '192.0.2.212', browser: 'iphone' },
  { username: 'petrov', email: 'a.petrov@example.net', joined: 2.1, ip: '203.0.113.240', browser: 'linux' },
  { username: 'silva', email: 'marta.silva@example.com', joined: 1.2, ip: '198.51.100.245', browser: 'windows' }
]

/** One password for all, because they exist only in demo mode. */
export const PEOPLES_PASSWORD = 'Harbour#2026'

/** Answers tickets, with the role of support only. */
export const SUPPORTER = {
  username: 'marek',
  email: 'marek@example.com',
  joined: 10.95,
  ip: '192.0.2.3',
  browser: 'mac'
} as const satisfies Person

/** Tickets of the demo, sent so many days before the end. `from` is a username or a stranger. */
export const tickets: readonly {
  sent: number
  from: string | { name: string; email: string }
  phone: string
  message: string
  answer?: { after: number; text: string; by: 'admin' | 'marek' }
  /** What both write then, with a note of the operator. */
  more?: { after: number; message: string; note: string; text: string }
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
    },
    more: {
      after: 0.6,
      message: 'Thank you, that works. Is there a limit on connections at the same time?',
      note: 'Brandt crawls shop prices. If he asks for more connections, offer the next plan.',
      text: 'Each address takes 200 connections at the same time. Tell us if you need more.'
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

/** Saved replies of the demo. */
export const savedReplies = [
  {
    title: 'Proxies do not connect',
    text: 'Please check that your own address is among the allowed IPs, or that your program sends the username and password of the order.'
  },
  {
    title: 'How to renew',
    text: 'Open Proxies, choose the order and press Renew. The term is added to the end of the order.'
  }
]
