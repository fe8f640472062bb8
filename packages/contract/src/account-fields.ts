import { z } from 'zod'
import { message } from './form-messages.ts'

export const PASSWORD_RULE = message('password_rule')

const passwordPattern = /^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)(?=.*[^A-Za-z0-9\s])\S{8,20}$/
export const password = (missing: string) =>
  z.string({ error: missing }).min(1, missing).regex(passwordPattern, PASSWORD_RULE)

export const username = z
  .string({ error: message('enter_new_username') })
  .min(1, message('enter_new_username'))
  .refine(value => value.length >= 4 && value.length <= 10, message('username_length'))
  .regex(/^[A-Za-z0-9]+$/, message('username_characters'))
  .refine(value => !/^\d+$/.test(value), message('username_letter'))

export const email = (missing = message('enter_email')) =>
  z
    .string({ error: missing })
    .trim()
    .min(1, missing)
    .max(254, message('email_format'))
    .pipe(z.email(message('email_format')))

export const emailCode = z
  .string({ error: message('enter_email_code') })
  .trim()
  .regex(/^\d{6}$/, message('enter_email_code'))

/** The signed-in user's password, required again for calls that a stolen session must not make. */
export const ownPassword = z
  .string({ error: message('enter_your_password') })
  .min(1, message('enter_your_password'))
  .max(200)
