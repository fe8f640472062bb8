import { z } from 'zod'
import { route } from './route.ts'
import { Done } from './shapes.ts'
import { message } from './form-messages.ts'

/** The name of a shop whose owner has chosen none. */
export const DEFAULT_SHOP_NAME = 'Netlet'

/** Bytes of the uploaded picture. Every page loads it. */
export const MOST_LOGO_BYTES = 100_000

/** What pages show of the shop. */
export const Brand = z.object({
  name: z.string(),
  /** '#0b6860'; '': the default. */
  accent: z.string(),
  /** The address of the logo, which ends with its kind: '.png'; null: the default. */
  logo: z.string().nullable()
})
export type Brand = z.infer<typeof Brand>

/** A PNG, SVG or WebP picture in base64; '': the default logo again. */
export const LogoForm = z.object({
  picture: z
    .string({ error: message('choose_picture') })
    .max(Math.ceil(MOST_LOGO_BYTES / 3) * 4, message('picture_too_large', { max: MOST_LOGO_BYTES / 1000 }))
    .regex(/^[A-Za-z0-9+/]*={0,2}$/, message('choose_picture'))
})

export const brandRoutes = {
  brand: route('GET', '/api/settings/brand', {
    summary: "The shop's name, accent colour and logo",
    access: 'public',
    reply: Brand
  }),
  saveLogo: route('POST', '/api/settings/logo', {
    summary: 'Replace the logo, which is also the icon of the pages',
    access: 'admin',
    permission: 'settings.change',
    needsConfirmation: true,
    bodyLimit: 256 * 1024,
    body: LogoForm,
    reply: Brand
  }),
  logo: route('GET', '/logo', {
    summary: 'The logo',
    access: 'public',
    reply: Done,
    raw: 'image/*'
  })
}
