export const demoFaqs = [
  {
    question: 'How do I use a proxy?',
    answer:
      'Each line of your list is ip:port:username:password. Enter address and port as an HTTP or SOCKS5 proxy in your program, with the username and password. With curl: curl -x http://USERNAME:PASSWORD@IP:PORT https://example.com',
    translations: {
      'zh-CN': {
        question: '如何使用代理？',
        answer:
          '列表中的每一行格式为 ip:端口:用户名:密码。在程序中将地址和端口填为 HTTP 或 SOCKS5 代理，并填写用户名和密码。使用 curl：curl -x http://用户名:密码@IP:端口 https://example.com'
      }
    }
  },
  {
    question: 'What is an access rule?',
    answer:
      'A rule names the sites of one service. Sites in a rule are reachable only through proxies whose order selected it; all other sites are open to every proxy.',
    translations: {
      'zh-CN': {
        question: '什么是访问规则？',
        answer: '一条规则列出某项服务的网站。规则中的网站只能通过选购了该规则的订单的代理访问，其他网站对所有代理开放。'
      }
    }
  },
  {
    question: 'Which address do websites see?',
    answer: 'The one that you connect to. Each proxy sends its traffic from its own address.',
    translations: {
      'zh-CN': { question: '网站看到的是哪个地址？', answer: '就是您连接的那个地址。每个代理都从自己的地址发出流量。' }
    }
  },
  {
    question: 'When are my proxies delivered?',
    answer: 'Within seconds of the payment. You find them under Dashboard, Proxies, and in a mail.',
    translations: {
      'zh-CN': { question: '代理何时交付？', answer: '付款后几秒内。您可以在“控制台 → 代理”中找到，也会收到邮件。' }
    }
  },
  {
    question: 'Can I keep the same addresses?',
    answer: 'Yes. Renew before the order expires and every address stays yours for another term.',
    translations: {
      'zh-CN': {
        question: '可以保留相同的地址吗？',
        answer: '可以。在订单到期前续租，所有地址在下一租期内仍归您使用。'
      }
    }
  },
  {
    question: 'Can I get my money back?',
    answer:
      'No. Proxies are digital goods and all sales are final. Only general connectivity of the addresses is guaranteed.',
    translations: {
      'zh-CN': {
        question: '可以退款吗？',
        answer: '不可以。代理属于数字商品，售出概不退款。我们只保证地址的一般连通性。'
      }
    }
  }
]

/** Gift cards that coins can be exchanged for. */
export const demoGiftCards = [
  { mount: '5.00', point: 500, code: 'DEMO-GIFT-5A' },
  { mount: '5.00', point: 500, code: 'DEMO-GIFT-5B' },
  { mount: '10.00', point: 900, code: 'DEMO-GIFT-10' },
  { mount: '25.00', point: 2000, code: 'DEMO-GIFT-25' }
]
