import type { Language, Scope } from '@netlet/contract'
import { day, sender, template, type TemplateContext } from './define.ts'

type Code = { sealed_code: string; expires_at: string }

const sample: Code = { sealed_code: '', expires_at: '2026-01-05T10:10:00.000Z' }

function minutesLeft(language: Language, expiresAt: string, now: Date): string {
  const minutes = Math.max(1, Math.round((Date.parse(expiresAt) - now.getTime()) / 60_000))
  if (language === 'zh-CN') return `${minutes} 分钟`
  return minutes === 1 ? '1 minute' : `${minutes} minutes`
}

/** No server sees what follows the `#`. */
const resetLink = (data: { sealed_proof: string }, shop: TemplateContext): string =>
  `${shop.shopUrl}/forgot?step=reset#${shop.open(data.sealed_proof)}`

export const codeTemplates = {
  'sign-up-code': template<Code>({
    kind: 'security',
    sample,
    content: {
      en: (data, shop) => ({
        subject: 'Your sign-up code',
        heading: 'Confirm your email address',
        paragraphs: [
          `Enter this code in the sign-up form. It is valid for ${minutesLeft('en', data.expires_at, shop.now)} and works once.`
        ],
        code: shop.open(data.sealed_code),
        footer: `You get this email because someone is signing up with this address. If it was not you, ignore it. ${sender(shop)}`
      }),
      'zh-CN': (data, shop) => ({
        subject: '您的注册验证码',
        heading: '请确认您的邮箱地址',
        paragraphs: [
          `请在注册表单中输入此验证码。有效期 ${minutesLeft('zh-CN', data.expires_at, shop.now)}，仅可使用一次。`
        ],
        code: shop.open(data.sealed_code),
        footer: `有人正在使用此邮箱注册，因此您收到这封邮件。如非本人操作，请忽略。${sender(shop)}`
      })
    }
  }),
  'forgot-code': template<Code>({
    kind: 'security',
    sample,
    content: {
      en: (data, shop) => ({
        subject: 'Your password reset code',
        heading: 'Set a new password',
        paragraphs: [
          `Enter this code in the form. It is valid for ${minutesLeft('en', data.expires_at, shop.now)} and works once.`
        ],
        code: shop.open(data.sealed_code),
        footer: `If you did not request it, ignore this email. Your password stays the same. ${sender(shop)}`
      }),
      'zh-CN': (data, shop) => ({
        subject: '您的密码重置验证码',
        heading: '设置新密码',
        paragraphs: [
          `请在表单中输入此验证码。有效期 ${minutesLeft('zh-CN', data.expires_at, shop.now)}，仅可使用一次。`
        ],
        code: shop.open(data.sealed_code),
        footer: `如非本人操作，请忽略此邮件，您的密码不会改变。${sender(shop)}`
      })
    }
  }),
  'forgot-link': template<{ sealed_proof: string }>({
    kind: 'security',
    sample: { sealed_proof: '' },
    content: {
      en: (data, shop) => ({
        subject: 'Your password reset link',
        heading: 'Set a new password',
        paragraphs: [
          'Too many password reset codes were requested, so we send no more today. To set a new password, use this link. It is valid for 1 day and works once.'
        ],
        button: { label: 'Set a new password', url: resetLink(data, shop) },
        footer: `If you did not request it, ignore this email. Your password stays the same. ${sender(shop)}`
      }),
      'zh-CN': (data, shop) => ({
        subject: '您的密码重置链接',
        heading: '设置新密码',
        paragraphs: [
          '请求密码重置验证码的次数过多，今天不再发送。如需设置新密码，请使用此链接。有效期 1 天，仅可使用一次。'
        ],
        button: { label: '设置新密码', url: resetLink(data, shop) },
        footer: `如非本人操作，请忽略此邮件，您的密码不会改变。${sender(shop)}`
      })
    }
  }),
  'change-email-code': template<Code>({
    kind: 'security',
    sample,
    content: {
      en: (data, shop) => ({
        subject: 'Your code to change your email address',
        heading: 'Confirm your new email address',
        paragraphs: [
          `Enter this code in the form. It is valid for ${minutesLeft('en', data.expires_at, shop.now)} and works once.`
        ],
        code: shop.open(data.sealed_code),
        footer: `Someone wants to use this address for an account. If it was not you, ignore this email. ${sender(shop)}`
      }),
      'zh-CN': (data, shop) => ({
        subject: '您的新邮箱验证码',
        heading: '请确认您的新邮箱地址',
        paragraphs: [
          `请在表单中输入此验证码。有效期 ${minutesLeft('zh-CN', data.expires_at, shop.now)}，仅可使用一次。`
        ],
        code: shop.open(data.sealed_code),
        footer: `有人希望将某个账户的邮箱改为此地址。如非本人操作，请忽略此邮件。${sender(shop)}`
      })
    }
  })
}

/** A change of an account and its time (ISO 8601). */
type Notice = { username: string; at: string }

const notice: Notice = { username: 'demo1', at: '2026-01-05T10:00:00.000Z' }

const NOT_YOU =
  'If it was not you, set a new password immediately: "Forgot password" on the login page ends every session.'
const NOT_YOU_ZH = '如非本人操作，请立即在登录页点击“忘记密码”设置新密码，所有会话将随之结束。'

const RIGHTS: Record<Scope, Record<Language, string>> = {
  read: { en: 'Read orders and proxies', 'zh-CN': '读取订单和代理' },
  renew: { en: 'Renew orders', 'zh-CN': '续费订单' },
  webhooks: { en: 'Manage webhook endpoints', 'zh-CN': '管理 Webhook 端点' }
}

/** @param scopes joined by ', ' */
const rightsOf = (language: Language, scopes: string): string =>
  scopes
    .split(', ')
    .map(scope => RIGHTS[scope as Scope]?.[language] ?? scope)
    .join(language === 'en' ? ', ' : '、')

const ENDED = {
  password: {
    en: 'Your password was changed, which revokes all API keys.',
    'zh-CN': '您的密码已更改，API 密钥随之失效。'
  },
  ban: { en: 'Your account was banned.', 'zh-CN': '您的账户已被封禁。' },
  rights: { en: 'The role of your account was changed.', 'zh-CN': '您账户的角色已更改。' }
}

/** Mails about others' access to an account, and payments to a deleted one. They cannot be switched off. */
export const accessTemplates = {
  'api-key-made': template<Notice & { name: string; scopes: string; expires?: string | null }>({
    kind: 'security',
    sample: { ...notice, name: 'backup script', scopes: 'read', expires: '2026-04-05T10:00:00.000Z' },
    content: {
      en: (data, shop) => ({
        subject: 'A new API key for your account',
        heading: `Hello ${data.username}, an API key was created`,
        paragraphs: ['Programs with this key can act for you. You can revoke it under Settings.', NOT_YOU],
        facts: [
          ['Time', day(data.at)],
          ['Name', data.name],
          ['Permissions', rightsOf('en', data.scopes)],
          ['Expires', data.expires ? day(data.expires) : 'Never']
        ],
        footer: sender(shop)
      }),
      'zh-CN': (data, shop) => ({
        subject: '您的账户创建了新的 API 密钥',
        heading: `${data.username}，您好，新的 API 密钥已创建`,
        paragraphs: ['持有此密钥的程序可以您的名义操作。您可以在“设置”中吊销它。', NOT_YOU_ZH],
        facts: [
          ['时间', day(data.at)],
          ['名称', data.name],
          ['权限', rightsOf('zh-CN', data.scopes)],
          ['失效时间', data.expires ? day(data.expires) : '永不失效']
        ],
        footer: sender(shop)
      })
    }
  }),
  'api-key-ends': template<Notice & { name: string }>({
    kind: 'security',
    sample: { ...notice, name: 'backup script' },
    content: {
      en: (data, shop) => ({
        subject: `Your API key ${data.name} expires soon`,
        heading: `Hello ${data.username}, an API key expires soon`,
        paragraphs: [
          'Programs that use this key stop working when it expires. Create a new key under Settings, and use it in them.'
        ],
        facts: [
          ['Name', data.name],
          ['Expires', day(data.at)]
        ],
        footer: sender(shop)
      }),
      'zh-CN': (data, shop) => ({
        subject: `您的 API 密钥 ${data.name} 即将失效`,
        heading: `${data.username}，您好，您的一个 API 密钥即将失效`,
        paragraphs: ['密钥失效后，使用它的程序将无法继续工作。请在“设置”中创建新密钥并替换。'],
        facts: [
          ['名称', data.name],
          ['失效时间', day(data.at)]
        ],
        footer: sender(shop)
      })
    }
  }),
  'api-keys-ended': template<Notice & { names: string; cause: 'password' | 'ban' | 'rights' }>({
    kind: 'security',
    sample: { ...notice, names: 'backup script, cron', cause: 'password' },
    content: {
      en: (data, shop) => ({
        subject: 'Your API keys were revoked',
        heading: `Hello ${data.username}, your API keys were revoked`,
        paragraphs: [
          ENDED[data.cause].en,
          'Programs that use these keys no longer work. Create new keys under Settings if you need them.'
        ],
        facts: [
          ['Time', day(data.at)],
          ['Keys', data.names]
        ],
        footer: sender(shop)
      }),
      'zh-CN': (data, shop) => ({
        subject: '您的 API 密钥已失效',
        heading: `${data.username}，您好，您的 API 密钥已失效`,
        paragraphs: [ENDED[data.cause]['zh-CN'], '使用这些密钥的程序无法继续工作。如有需要，请在“设置”中创建新密钥。'],
        facts: [
          ['时间', day(data.at)],
          ['密钥', data.names]
        ],
        footer: sender(shop)
      })
    }
  }),
  'chat-account-bound': template<Notice & { name: string }>({
    kind: 'security',
    sample: { ...notice, name: 'Demo' },
    content: {
      en: (data, shop) => ({
        subject: 'A Discord account was connected',
        heading: `Hello ${data.username}, a Discord account was connected`,
        paragraphs: ['The owner of that Discord account can log in to your account with it.', NOT_YOU],
        facts: [
          ['Time', day(data.at)],
          ['Discord account', data.name]
        ],
        footer: sender(shop)
      }),
      'zh-CN': (data, shop) => ({
        subject: '您的账户已绑定 Discord',
        heading: `${data.username}，您好，您的账户已绑定 Discord`,
        paragraphs: ['该 Discord 账户的所有者可以用它登录您的账户。', NOT_YOU_ZH],
        facts: [
          ['时间', day(data.at)],
          ['Discord 账户', data.name]
        ],
        footer: sender(shop)
      })
    }
  }),
  'chat-account-unbound': template<Notice & { name: string }>({
    kind: 'security',
    sample: { ...notice, name: 'Demo' },
    content: {
      en: (data, shop) => ({
        subject: 'Your Discord account was disconnected',
        heading: `Hello ${data.username}, your Discord account was disconnected`,
        paragraphs: [
          'You can no longer log in to your account with it. You can connect a Discord account again under Settings.',
          NOT_YOU
        ],
        facts: [
          ['Time', day(data.at)],
          ['Discord account', data.name]
        ],
        footer: sender(shop)
      }),
      'zh-CN': (data, shop) => ({
        subject: '您的账户已解绑 Discord',
        heading: `${data.username}，您好，您的账户已解绑 Discord`,
        paragraphs: ['该账户已无法用于登录。您可以在“设置”中重新绑定。', NOT_YOU_ZH],
        facts: [
          ['时间', day(data.at)],
          ['Discord 账户', data.name]
        ],
        footer: sender(shop)
      })
    }
  }),
  'payment-without-account': template<{ at: string; platform_order: string; amount: string }>({
    kind: 'security',
    sample: { at: notice.at, platform_order: '#1001', amount: '20.00' },
    content: {
      en: (data, shop) => ({
        subject: `We could not use your payment ${data.platform_order}`,
        heading: 'We could not use your payment',
        paragraphs: [
          'We found no order or account for it, so nothing was delivered. We will deliver what you bought, or refund you.',
          'If you have a question, reply to this email or contact support.'
        ],
        facts: [
          ['Time', day(data.at)],
          ['Payment', data.platform_order],
          ['Amount', data.amount]
        ],
        footer: sender(shop)
      }),
      'zh-CN': (data, shop) => ({
        subject: `您的付款 ${data.platform_order} 无法使用`,
        heading: '您的付款无法使用',
        paragraphs: [
          '我们没有找到与这笔付款对应的订单或账户，因此尚未交付任何内容。我们会交付您所购买的内容，或为您退款。',
          '如有疑问，请回复此邮件或联系客服。'
        ],
        facts: [
          ['时间', day(data.at)],
          ['付款', data.platform_order],
          ['金额', data.amount]
        ],
        footer: sender(shop)
      })
    }
  })
}
