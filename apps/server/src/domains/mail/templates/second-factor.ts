import type { Language } from '@netlet/contract'
import { day, sender, template } from './define.ts'

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
    en: 'From now on it is asked for after your password, or logs you in by itself.',
    'zh-CN': '今后登录时，输入密码后还需通过它验证，或可直接用它登录。'
  },
  removed: {
    en: 'You can no longer log in with it.',
    'zh-CN': '它已无法用于登录。'
  },
  reset: {
    en: 'An operator of the shop removed them, and ended your sessions. Log in with your password, and add one again.',
    'zh-CN': '商店运营人员已将其移除，并结束了您的会话。请用密码登录，然后重新添加。'
  },
  codes_made: {
    en: 'The former recovery codes do not work any more.',
    'zh-CN': '之前的恢复代码已失效。'
  },
  code_used: {
    en: 'Each recovery code works once. Make new ones under Settings before the last one is used.',
    'zh-CN': '每个恢复代码只能使用一次。请在用完之前到“设置”中生成新的代码。'
  }
}

const NAME: Record<Language, (what: What, name: string) => [string, string][]> = {
  en: (what, name) => (name === '–' ? [] : [[what === 'code_used' ? 'Codes left' : 'Name', name]]),
  'zh-CN': (what, name) => (name === '–' ? [] : [[what === 'code_used' ? '剩余代码' : '名称', name]])
}

const NOT_YOU =
  'If it was not you, set a new password at once: "Forgot password" on the log-in page ends every session. Then check your second factors.'
const NOT_YOU_ZH = '如非本人操作，请立即在登录页点击“忘记密码”设置新密码，所有会话将随之结束。然后检查您的双重验证。'

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
        paragraphs: [`${SUBJECT[data.what].en}.`, BODY[data.what].en, NOT_YOU],
        facts: [['Time', day(data.at)], ...NAME.en(data.what, data.name)],
        footer: sender(shop)
      }),
      'zh-CN': (data, shop) => ({
        subject: SUBJECT[data.what]['zh-CN'],
        heading: `${data.username}，您好`,
        paragraphs: [`${SUBJECT[data.what]['zh-CN']}。`, BODY[data.what]['zh-CN'], NOT_YOU_ZH],
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
        subject: 'Somebody has your password',
        heading: `Hello ${data.username}, somebody has your password`,
        paragraphs: [
          'Your right password was followed by wrong codes several times. Your second factor has kept the account closed.',
          'If it was not you, set a new password at once.'
        ],
        facts: [['Time', day(data.at)]],
        footer: sender(shop)
      }),
      'zh-CN': (data, shop) => ({
        subject: '有人知道您的密码',
        heading: `${data.username}，您好，有人知道您的密码`,
        paragraphs: [
          '有人输入了您的正确密码，随后多次输入错误的验证码。双重验证阻止了登录。',
          '如非本人操作，请立即设置新密码。'
        ],
        facts: [['时间', day(data.at)]],
        footer: sender(shop)
      })
    }
  })
}
