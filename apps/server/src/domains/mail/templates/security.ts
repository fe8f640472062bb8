import { deviceIn } from '@netlet/contract/device-words'
import { day, sender, template } from './define.ts'
import type { Language } from '@netlet/contract'

/** A change of an account and its time (ISO 8601). */
type Notice = { username: string; at: string }

const notice: Notice = { username: 'demo1', at: '2026-01-05T10:00:00.000Z' }

const NOT_YOU =
  'If it was not you, set a new password immediately: "Forgot password" on the login page ends every session.'
const NOT_YOU_ZH = '如非本人操作，请立即在登录页点击“忘记密码”设置新密码，所有会话将随之结束。'

type Login = Notice & { device: string; ip: string; country: string }

/** What the owner of an account has to know. These mails cannot be switched off. */
export const securityTemplates = {
  'new-login': template<Login>({
    kind: 'security',
    sample: { ...notice, device: 'Firefox on Linux', ip: '203.0.113.7', country: 'US' },
    content: {
      en: (data, shop) => ({
        subject: 'New login to your account',
        heading: `Hello ${data.username}, someone logged in to your account`,
        paragraphs: ['The login came from a browser or a country that is new for this account.', NOT_YOU],
        facts: [
          ['Time', day(data.at)],
          ['Browser', data.device],
          ['IP', data.ip],
          ['Country', data.country]
        ],
        footer: sender(shop)
      }),
      'zh-CN': (data, shop) => ({
        subject: '您的账户有新的登录',
        heading: `${data.username}，您好，您的账户有新的登录`,
        paragraphs: ['此次登录来自该账户以前未使用过的浏览器或国家。', NOT_YOU_ZH],
        facts: [
          ['时间', day(data.at)],
          ['浏览器', deviceIn('zh-CN', data.device)],
          ['IP', data.ip],
          ['国家', data.country]
        ],
        footer: sender(shop)
      })
    }
  }),
  'password-changed': template<Notice>({
    kind: 'security',
    sample: notice,
    content: {
      en: (data, shop) => ({
        subject: 'Your password was changed',
        heading: `Hello ${data.username}, your password was changed`,
        paragraphs: ['All other sessions and all API keys of your account have ended.', NOT_YOU],
        facts: [['Time', day(data.at)]],
        footer: sender(shop)
      }),
      'zh-CN': (data, shop) => ({
        subject: '您的密码已更改',
        heading: `${data.username}，您好，您的密码已更改`,
        paragraphs: ['您账户的其他会话和所有 API 密钥均已失效。', NOT_YOU_ZH],
        facts: [['时间', day(data.at)]],
        footer: sender(shop)
      })
    }
  }),
  'email-changed': template<Notice & { email: string }>({
    kind: 'security',
    sample: { ...notice, email: 'new@example.com' },
    content: {
      en: (data, shop) => ({
        subject: 'Your email address was changed',
        heading: `Hello ${data.username}, your email address was changed`,
        paragraphs: [
          'From now on, we send emails about your account to the new address.',
          'If it was not you, contact support immediately.'
        ],
        facts: [
          ['Time', day(data.at)],
          ['New address', data.email]
        ],
        footer: sender(shop)
      }),
      'zh-CN': (data, shop) => ({
        subject: '您的邮箱地址已更改',
        heading: `${data.username}，您好，您的邮箱地址已更改`,
        paragraphs: ['今后与您账户有关的邮件将发送到新地址。', '如非本人操作，请立即联系客服。'],
        facts: [
          ['时间', day(data.at)],
          ['新地址', data.email]
        ],
        footer: sender(shop)
      })
    }
  }),
  'login-guesses': template<Notice>({
    kind: 'security',
    sample: notice,
    content: {
      en: (data, shop) => ({
        subject: 'Someone is guessing your password',
        heading: `Hello ${data.username}, someone is guessing your password`,
        paragraphs: [
          'There were many failed logins to your account. Browsers that you used before can still log in. Other browsers have to wait a few minutes.',
          'If you cannot log in, use "Forgot password" on the login page. That browser can log in afterwards.'
        ],
        facts: [['Time', day(data.at)]],
        footer: sender(shop)
      }),
      'zh-CN': (data, shop) => ({
        subject: '有人正在猜测您的密码',
        heading: `${data.username}，您好，有人正在猜测您的密码`,
        paragraphs: [
          '您的账户出现了大量失败的登录。您以前登录过的浏览器不受影响，其他浏览器需要等待几分钟。',
          '如果您无法登录，请在登录页点击“忘记密码”，之后该浏览器即可登录。'
        ],
        facts: [['时间', day(data.at)]],
        footer: sender(shop)
      })
    }
  }),
  'password-guesses': template<Notice>({
    kind: 'security',
    sample: notice,
    content: {
      en: (data, shop) => ({
        subject: 'Someone is guessing your password in an open session',
        heading: `Hello ${data.username}, someone logged in to your account is guessing your password`,
        paragraphs: [
          'Someone entered a wrong password many times where the settings ask for it again. If it was not you, someone is using a browser where you are logged in.',
          NOT_YOU
        ],
        facts: [['Time', day(data.at)]],
        footer: sender(shop)
      }),
      'zh-CN': (data, shop) => ({
        subject: '有人正在已登录的会话中猜测您的密码',
        heading: `${data.username}，您好，有人在已登录您账户的浏览器中猜测您的密码`,
        paragraphs: [
          '在设置中需要再次输入密码的地方，多次出现错误的密码。如非本人操作，则有人正在使用您已登录的浏览器。',
          NOT_YOU_ZH
        ],
        facts: [['时间', day(data.at)]],
        footer: sender(shop)
      })
    }
  }),
  'address-registered': template<{ at: string }>({
    kind: 'security',
    sample: { at: notice.at },
    content: {
      en: (data, shop) => ({
        subject: 'You already have an account',
        heading: 'This address already has an account',
        paragraphs: [
          'Someone requested a code to sign up with this address, or to change an account to it. The address already has an account, so we sent no code.',
          'If it was you, log in, or use "Forgot password" on the login page. If it was not you, ignore this email: nothing has changed.'
        ],
        facts: [['Time', day(data.at)]],
        footer: sender(shop)
      }),
      'zh-CN': (data, shop) => ({
        subject: '您已有账户',
        heading: '此邮箱已有账户',
        paragraphs: [
          '有人请求用此邮箱注册，或将其他账户的邮箱改为此地址。由于此邮箱已有账户，我们没有发送验证码。',
          '如果是您本人，请直接登录，或在登录页点击“忘记密码”。如非本人操作，请忽略此邮件：未做任何更改。'
        ],
        facts: [['时间', day(data.at)]],
        footer: sender(shop)
      })
    }
  }),
  'account-deleted': template<Notice>({
    kind: 'security',
    unnamed: true,
    sample: notice,
    content: {
      en: (data, shop) => ({
        subject: 'Your account was deleted',
        heading: `Goodbye ${data.username}, your account was deleted`,
        paragraphs: [
          'We removed your name, email address and messages. The payment records that we must keep no longer name you.'
        ],
        facts: [['Time', day(data.at)]],
        footer: sender(shop)
      }),
      'zh-CN': (data, shop) => ({
        subject: '您的账户已删除',
        heading: `${data.username}，再见，您的账户已删除`,
        paragraphs: ['我们已删除您的用户名、邮箱和消息。依法须保留的付款记录不再包含您的名称。'],
        facts: [['时间', day(data.at)]],
        footer: sender(shop)
      })
    }
  })
}

type What = 'added' | 'removed' | 'reset' | 'codes_made' | 'code_used'

const SUBJECT: Record<What, Record<Language, string>> = {
  added: { en: 'A second factor was added to your account', 'zh-CN': '您的账户添加了双重验证' },
  removed: { en: 'A second factor was removed from your account', 'zh-CN': '您的账户移除了一项双重验证' },
  reset: { en: 'The second factors of your account were removed', 'zh-CN': '您账户的双重验证已全部移除' },
  codes_made: { en: 'Your account has new recovery codes', 'zh-CN': '您的账户生成了新的恢复代码' },
  code_used: { en: 'A recovery code of your account was used', 'zh-CN': '您账户的一个恢复代码已被使用' }
}

const BODY: Record<What, Record<Language, string>> = {
  added: {
    en: 'From now on, you use it after your password to log in. A passkey can also log you in alone.',
    'zh-CN': '今后登录时，输入密码后还需通过它验证。通行密钥也可单独用于登录。'
  },
  removed: {
    en: 'You can no longer log in with it.',
    'zh-CN': '它已无法用于登录。'
  },
  reset: {
    en: 'An operator removed them and ended your sessions. Log in with your password, and add a new one.',
    'zh-CN': '管理员已将其移除，并结束了您的会话。请用密码登录，然后重新添加。'
  },
  codes_made: {
    en: 'The previous recovery codes no longer work.',
    'zh-CN': '之前的恢复代码已失效。'
  },
  code_used: {
    en: 'Each recovery code works once. Generate new ones under Settings before you run out.',
    'zh-CN': '每个恢复代码只能使用一次。请在用完之前到“设置”中生成新的代码。'
  }
}

const NAME: Record<Language, (what: What, name: string) => [string, string][]> = {
  en: (what, name) => (name === '–' ? [] : [[what === 'code_used' ? 'Codes left' : 'Name', name]]),
  'zh-CN': (what, name) => (name === '–' ? [] : [[what === 'code_used' ? '剩余代码' : '名称', name]])
}

const FACTOR_NOT_YOU =
  'If it was not you, set a new password immediately: "Forgot password" on the login page ends every session. Then check your second factors.'
const FACTOR_NOT_YOU_ZH =
  '如非本人操作，请立即在登录页点击“忘记密码”设置新密码，所有会话将随之结束。然后检查您的双重验证。'

/** Mails about second factors. They cannot be switched off. */
export const secondFactorTemplates = {
  /** `name`: of the factor, or how many codes are left; '–': neither. */
  'second-factor-changed': template<{ username: string; at: string; what: What; name: string }>({
    kind: 'security',
    sample: { username: 'demo1', at: '2026-01-05T10:00:00.000Z', what: 'added', name: 'Phone' },
    content: {
      en: (data, shop) => ({
        subject: SUBJECT[data.what].en,
        heading: `Hello ${data.username}`,
        paragraphs: [`${SUBJECT[data.what].en}.`, BODY[data.what].en, FACTOR_NOT_YOU],
        facts: [['Time', day(data.at)], ...NAME.en(data.what, data.name)],
        footer: sender(shop)
      }),
      'zh-CN': (data, shop) => ({
        subject: SUBJECT[data.what]['zh-CN'],
        heading: `${data.username}，您好`,
        paragraphs: [`${SUBJECT[data.what]['zh-CN']}。`, BODY[data.what]['zh-CN'], FACTOR_NOT_YOU_ZH],
        facts: [['时间', day(data.at)], ...NAME['zh-CN'](data.what, data.name)],
        footer: sender(shop)
      })
    }
  }),
  'second-factor-guesses': template<{ username: string; at: string }>({
    kind: 'security',
    sample: { username: 'demo1', at: '2026-01-05T10:00:00.000Z' },
    content: {
      en: (data, shop) => ({
        subject: 'Someone knows your password',
        heading: `Hello ${data.username}, someone knows your password`,
        paragraphs: [
          'Someone entered your correct password, and then wrong codes several times. Two-factor authentication kept them out.',
          'If it was not you, set a new password immediately.'
        ],
        facts: [['Time', day(data.at)]],
        footer: sender(shop)
      }),
      'zh-CN': (data, shop) => ({
        subject: '有人知道您的密码',
        heading: `${data.username}，您好，有人知道您的密码`,
        paragraphs: [
          '有人输入了您的密码，随后多次输入错误的验证码。双重验证阻止了登录。',
          '如非本人操作，请立即设置新密码。'
        ],
        facts: [['时间', day(data.at)]],
        footer: sender(shop)
      })
    }
  })
}
