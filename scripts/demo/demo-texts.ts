export const demoFaqs = [
  {
    question: 'How do I use a proxy?',
    answer:
      'Each line of your list is ip:port:username:password. In your program, enter the IP and port as an HTTP or SOCKS5 proxy, with the username and password. With curl: curl -x http://USERNAME:PASSWORD@IP:PORT https://example.com',
    translations: {
      'zh-CN': {
        question: '如何使用代理？',
        answer:
          '列表中的每一行格式为 ip:端口:用户名:密码。在程序中将 IP 和端口填为 HTTP 或 SOCKS5 代理，并填写用户名和密码。使用 curl：curl -x http://用户名:密码@IP:端口 https://example.com'
      }
    }
  },
  {
    question: 'What is an access rule?',
    answer:
      'A rule lists the sites of one service. Your proxies reach these sites only if your order includes the rule. All other sites are open to every proxy. Other customers may use the same IP under other rules.',
    translations: {
      'zh-CN': {
        question: '什么是访问规则？',
        answer:
          '一条规则列出某项服务的网站。订单包含该规则时，其代理才能访问这些网站，其他网站对所有代理开放。同一 IP 可能以其他规则供其他客户使用。'
      }
    }
  },
  {
    question: 'Which IP do websites see?',
    answer: 'The IP you connect to. Each proxy sends its traffic from its own IP.',
    translations: {
      'zh-CN': { question: '网站看到的是哪个 IP？', answer: '就是您连接的 IP。每个代理都从自己的 IP 发出流量。' }
    }
  },
  {
    question: 'When are my proxies delivered?',
    answer:
      'Within seconds of your payment. Find them in your dashboard under Proxies. We also email you when they are ready.',
    translations: {
      'zh-CN': {
        question: '代理何时交付？',
        answer: '付款后数秒内。您可以在控制台的“代理”中查看，代理就绪后您也会收到邮件。'
      }
    }
  },
  {
    question: 'Can I keep the same IPs?',
    answer: 'Yes. Renew before the order expires to keep the same IPs for another term.',
    translations: {
      'zh-CN': {
        question: '可以保留相同的 IP 吗？',
        answer: '可以。在订单到期前续费，即可在下一租期继续使用相同的 IP。'
      }
    }
  },
  {
    question: 'Can I get my money back?',
    answer:
      'No. Proxies are digital goods and all sales are final. We guarantee only the general connectivity of the IPs.',
    translations: {
      'zh-CN': {
        question: '可以退款吗？',
        answer: '不可以。代理属于数字商品，售出概不退款。我们仅保证 IP 的基本连通性。'
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
