import { demoPlans } from '../../apps/sandbox/src/shopify/catalogue.ts'

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

/** The demo's catalogue in Chinese. Brands with the same name in both languages have no entry. */

type Texts = { name: string; desc: string }

/** By the platform's id. */
const collections: Record<string, Texts> = {
  '710000000001': {
    name: 'ISP 代理',
    desc: '登记在家用宽带运营商名下、由机房线路承载的地址。既有机房的速度，又有家庭宽带的信誉。'
  },
  '710000000002': {
    name: '数据中心代理',
    desc: '自有网段中连续的整块地址。适合不在意地址归属的任务，用最少的钱完成最多的请求。'
  },
  '710000000003': {
    name: '静态住宅',
    desc: '家庭宽带线路上的地址，租用期间保持不变。适合每天需要在同一个“家”登录的账户。'
  }
}

/** By the platform's id. */
const plans: Record<string, Texts> = {
  '720000000001': {
    name: '都会 ISP',
    desc: '日常首选：快速、稳定，几乎处处可用。\n• 不限流量\n• 同一端口支持 HTTP 与 SOCKS5\n• 一个地址起租'
  },
  '720000000002': {
    name: '首发日 ISP',
    desc: '靠近各大电商的机房，适合零点几秒定胜负的抢购早晨。\n• 到交换中心不到 3 毫秒\n• 可按周或按月租用\n• 每季更换新网段'
  },
  '720000000003': {
    name: '影音 ISP',
    desc: '在片库最全的地区长时间平稳播放。\n• 4K 不卡顿\n• 不在流媒体服务共享的名单上'
  },
  '720000000004': {
    name: '港湾数据中心',
    desc: '整齐的 /29 或 /28，适合排名跟踪、价格监测和质量检查。\n• 同一块中的相邻地址\n• 可按需设置反向解析'
  },
  '720000000005': {
    name: '货柜数据中心',
    desc: '最大可到整个 /24 的大块地址，适合从不停歇的爬虫。\n• 单价最低仅为小块的一半\n• 一次租下完整的 /24'
  },
  '720000000006': {
    name: '街机数据中心',
    desc: '到三大洲游戏服务器的延迟低而平稳。\n• 线路按抖动而不是按价格选择\n• 为需要的客户端提供 SOCKS5'
  },
  '720000000007': {
    name: '炉边住宅',
    desc: '家庭宽带线路上的地址，月复一月保持不变。\n• 来自真实家庭宽带线路\n• 地址从不轮换'
  },
  '720000000008': {
    name: 'TestStack 住宅',
    desc: '像当地买家一样查看价格和广告。\n• 同一街区的小块地址\n• 每天在大型购物网站上检查'
  },
  '720000000009': {
    name: '周六住宅',
    desc: '一条住宅线路用一周，适合新品发售、比赛或试用。\n• 七天，到期即止\n• 续费后地址不变'
  }
}

const tags: Record<string, string> = {
  Ads: '广告',
  Clearance: '清仓',
  Gaming: '游戏',
  SEO: '搜索优化',
  Sneakers: '球鞋',
  Social: '社交媒体',
  Streaming: '流媒体',
  Tickets: '票务'
}

const rules: Record<string, string> = {
  Amazon: '亚马逊',
  Google: '谷歌',
  Netflix: '奈飞',
  Nike: '耐克',
  Walmart: '沃尔玛'
}

const words: Record<string, string> = {
  Location: '地区',
  Block: '地址段大小',
  Term: '租期',
  Frankfurt: '法兰克福',
  London: '伦敦',
  'New York': '纽约',
  Tokyo: '东京',
  'Single address': '单个地址'
}

/** 'Block of 8' and '30 days' occur with many numbers. */
const wordOf = (word: string): string | undefined =>
  words[word] ?? word.replace(/^Block of (\d+)$/, '$1 个地址一组').replace(/^(\d+) days$/, '$1 天')

const chinese = <T>(texts: T) => ({ 'zh-CN': texts })

export const collectionInChinese = (platformId: string) => {
  const texts = collections[platformId]
  return texts && chinese(texts)
}
export const tagInChinese = (name: string) => {
  const found = tags[name]
  return found === undefined ? undefined : chinese({ name: found })
}
export const ruleInChinese = (name: string) => {
  const found = rules[name]
  return found === undefined ? undefined : chinese({ name: found })
}

/** A product's texts, with the words of all its options. */
export function planInChinese(platformId: string) {
  const texts = plans[platformId]
  const plan = demoPlans.find(({ id }) => id === platformId)
  if (!texts || !plan) return undefined
  const all = [...plan.optionNames, ...plan.variants.flatMap(({ options, location }) => [...options, location])]
  return chinese({ ...texts, words: Object.fromEntries(all.map(word => [word, wordOf(word)])) })
}

// Only in demo mode.
export const DEMO_ADMIN = { username: 'admin', password: 'Admin#2026', email: 'admin@example.com' }
export const DEMO_CUSTOMER = { username: 'demo1', password: 'Demo#2026', email: 'demo1@example.com' }
