import { createHash } from 'node:crypto'
import { accentColors, message, MOST_LOGO_BYTES, type Brand } from '@netlet/contract'
import type { FastifyReply } from 'fastify'
import type { Actor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { formRefusal } from '../../infra/refusals.ts'
import { ok, type Result } from '../../infra/result.ts'
import { readSome } from './read.ts'
import { type LOGO_TYPES, shopLogo } from './tables.ts'

type LogoType = (typeof LOGO_TYPES)[number]

/** The shop as its pages and mails name and colour it. */
export async function readBrand(db: Executor): Promise<Brand> {
  const { shop_name: name, shop_accent: accent } = await readSome(db, ['shop_name', 'shop_accent'])
  return { name, accent, logo: await readLogo(db) }
}

/** '/logo?v=….png': what it is, and its content, which a browser may keep. */
async function readLogo(db: Executor): Promise<string | null> {
  const [logo] = await db.select({ hash: shopLogo.hash, type: shopLogo.type }).from(shopLogo)
  return logo ? `/logo?v=${logo.hash}.${EXTENSIONS[logo.type]}` : null
}

const EXTENSIONS: Record<LogoType, string> = { 'image/png': 'png', 'image/svg+xml': 'svg', 'image/webp': 'webp' }

export type MailBrand = {
  name: string
  /** '#rrggbb', readable under white; null: the default. */
  accent: string | null
  /** A PNG: mail programs show no SVG, and some no WebP. */
  logo: string | null
  timeZone: string
  footer: string
}

export async function readMailBrand(db: Executor): Promise<MailBrand> {
  const settings = await readSome(db, ['shop_name', 'shop_accent', 'shop_time_zone', 'mail_footer'])
  const logo = await readLogo(db)
  return {
    name: settings.shop_name,
    accent: settings.shop_accent === '' ? null : accentColors(settings.shop_accent).light,
    logo: logo?.endsWith('.png') ? logo : null,
    timeZone: settings.shop_time_zone,
    footer: settings.mail_footer
  }
}

export const readShopName = async (db: Executor): Promise<string> => (await readSome(db, ['shop_name'])).shop_name

/** Replaces the logo. A repeat changes nothing. @param picture base64; '' for the default logo */
export function saveLogo(ctx: AppContext, by: Actor, picture: string): Promise<Result<Brand>> {
  const content = Buffer.from(picture, 'base64')
  const type = typeOf(content)
  if (picture !== '' && !type) return Promise.resolve(formRefusal({ picture: message('choose_picture') }))
  if (content.length > MOST_LOGO_BYTES)
    return Promise.resolve(formRefusal({ picture: message('picture_too_large', { max: MOST_LOGO_BYTES / 1000 }) }))
  if (type === 'image/svg+xml' && isActive(content.toString('utf8')))
    return Promise.resolve(formRefusal({ picture: message('picture_runs_code') }))
  return command(ctx, by, async unit => {
    const { tx, now } = unit
    const before = await readBrand(tx)
    await tx.delete(shopLogo)
    const hash = createHash('sha256').update(content).digest('base64url').slice(0, 16)
    if (type) await tx.insert(shopLogo).values({ hash, type, content, createdAt: now })
    const after = await readBrand(tx)
    if (after.logo !== before.logo)
      unit.audit('settings.save_logo', 'web', { before: { logo: before.logo }, after: { logo: after.logo } })
    return ok(after)
  })
}

/** By its content, because a browser's name for it can be wrong. */
function typeOf(content: Buffer): LogoType | undefined {
  if (content.subarray(0, 8).equals(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]))) return 'image/png'
  if (content.toString('latin1', 0, 4) === 'RIFF' && content.toString('latin1', 8, 12) === 'WEBP') return 'image/webp'
  return /^(?:\s|<\?xml[^>]*>|<!--(?:(?!-->)[^])*-->|<!DOCTYPE svg[^>[]*>)*<svg[\s>]/.test(content.toString('utf8'))
    ? 'image/svg+xml'
    : undefined
}

/** A browser runs none of it in a picture, and the reply forbids it. This tells the owner why the picture is not shown. */
const isActive = (svg: string): boolean =>
  /<(?:\w+:)?(?:script|foreignObject|iframe|a)\b|<!ENTITY|\son\w+\s*=|(?:href|src)\s*=\s*["'](?!#|data:image\/)|url\(\s*["']?(?!#)|@import/i.test(
    svg
  )

/** Sends the logo. Its address contains its hash, so browsers may keep it. Opened by itself it can do nothing. */
export async function serveLogo(ctx: AppContext, reply: FastifyReply): Promise<void> {
  const [logo] = await ctx.db.select().from(shopLogo)
  // The default is a file of the web app.
  if (!logo) return void (await reply.redirect('/icon.svg', 302))
  await reply
    .type(logo.type)
    .header('cache-control', 'public, max-age=31536000, immutable')
    .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox")
    .header('x-content-type-options', 'nosniff')
    // Mail programs in browsers show it.
    .header('cross-origin-resource-policy', 'cross-origin')
    .send(logo.content)
}
