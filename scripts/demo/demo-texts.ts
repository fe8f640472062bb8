/** Questions and answers of the demo shop. */
export const demoFaqs = [
  {
    question: 'How do I use a proxy?',
    answer:
      'Each line of your list is ip:port:username:password. Enter address and port as an HTTP or SOCKS5 proxy in your program, with the username and password. With curl: curl -x http://USERNAME:PASSWORD@IP:PORT https://example.com'
  },
  {
    question: 'What is an access rule?',
    answer:
      'A rule names the sites of one service. Sites in a rule are reachable only through proxies whose order selected it; all other sites are open to every proxy.'
  },
  {
    question: 'Which address do websites see?',
    answer: 'The one that you connect to. Each proxy sends its traffic from its own address.'
  },
  {
    question: 'When are my proxies delivered?',
    answer: 'Within seconds of the payment. You find them under Dashboard, Proxies, and in a mail.'
  },
  {
    question: 'Can I keep the same addresses?',
    answer: 'Yes. Renew before the order expires and every address stays yours for another term.'
  },
  {
    question: 'Can I get my money back?',
    answer:
      'No. Proxies are digital goods and all sales are final. Only general connectivity of the addresses is guaranteed.'
  }
]

/** What coins can be exchanged for in the demo shop. */
export const demoGiftCards = [
  { mount: '5.00', point: 500, code: 'DEMO-GIFT-5A' },
  { mount: '5.00', point: 500, code: 'DEMO-GIFT-5B' },
  { mount: '10.00', point: 900, code: 'DEMO-GIFT-10' },
  { mount: '25.00', point: 2000, code: 'DEMO-GIFT-25' }
]
