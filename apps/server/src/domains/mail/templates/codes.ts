import type { Language } from '@netlet/contract'
import { sender, template } from './define.ts'

type Code = { sealed_code: string; expires_at: string }

const sample: Code = { sealed_code: '', expires_at: '2026-01-05T10:10:00.000Z' }

function minutesLeft(language: Language, expiresAt: string, now: Date): string {
  const minutes = Math.max(1, Math.round((Date.parse(expiresAt) - now.getTime()) / 60_000))
  if (language === 'zh-CN') return `${minutes} 分钟`
  return minutes === 1 ? '1 minute' : `${minutes} minutes`
}

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
        footer: `有人希望将此邮箱用于账户。如非本人操作，请忽略此邮件。${sender(shop)}`
      })
    }
  })
}
