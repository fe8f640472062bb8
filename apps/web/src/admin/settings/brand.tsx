import type { Brand, ShownSettings } from '@netlet/contract'
import { accentColors, accentSheet } from '@netlet/contract/accent'
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type CSSProperties, type ReactNode, useRef } from 'react'
import { call } from '../../api/client.ts'
import { queryClient, keyOf, read, refresh } from '../../api/query.ts'
import { settings } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { failureText, fieldTexts } from '../../i18n/failures.ts'
import { setBrand, useBrand } from '../../kit/brand.tsx'
import { notify } from '../../kit/notify.ts'
import { May } from '../kit/index.ts'
import classes from './brand.module.css'

const isColour = (value: string) => /^#[\da-f]{6}$/i.test(value)
const sheetOf = (accent: string) => (isColour(accent) ? accentSheet(accent.toLowerCase()) : '')

/** Shows a new name and accent at once. */
export function showSaved({ shop_name: name, shop_accent: accent }: ShownSettings): void {
  const known = queryClient.getQueryData<Brand>(keyOf(settings.brand, {}))
  if (known && (known.name !== name || known.accent !== accent)) keep({ ...known, name, accent })
}

/** Replaces the brand that the server wrote into this page. */
export function showBrand(brand: Brand): void {
  const style = document.getElementById('accent') ?? document.head.appendChild(document.createElement('style'))
  style.id = 'accent'
  style.textContent = sheetOf(brand.accent)
  document.querySelector('link[rel=icon]')?.setAttribute('href', brand.logo ?? '/icon.svg')
  setBrand(brand)
}

function keep(brand: Brand): void {
  queryClient.setQueryData(keyOf(settings.brand, {}), brand)
  showBrand(brand)
}

type Look = { name: string; accent: string; zone: string; footer: string }

/** The look of settings, saved or not. */
export const brandOf = (values: Record<string, unknown>): Look => ({
  name: String(values['shop_name']),
  accent: String(values['shop_accent']),
  zone: String(values['shop_time_zone']),
  footer: String(values['mail_footer'])
})

/** The accent of apps/web/src/app/styles/tokens.css. */
const DEFAULT = { light: '#0b6860', dark: '#6dccc2', ink: '#0d1c1b', onInk: '#6dccc2' }

/** The form's fields and the logo, which is saved by itself; beside them, what customers will see. */
export function BrandTab({ name, accent, zone, footer, children }: Look & { children: ReactNode }) {
  const t = useT()
  const { data } = useQuery(read(settings.brand))
  const shown = useBrand()
  const logo = (data ?? shown).logo
  const chosen = isColour(accent) ? accent.toLowerCase() : null
  const colors = chosen === null ? DEFAULT : accentColors(chosen)
  const notes = [
    colors.light !== chosen && t('brand.darkened', { colour: colors.light }),
    colors.dark !== chosen && t('brand.lightened', { colour: colors.dark })
  ].filter(Boolean)
  const { light: filled, ink, onInk } = colors
  return (
    <div className={classes.layout}>
      <div className="stack">
        {children}
        <Logo logo={logo} />
      </div>
      <section className={`card stack ${classes.preview}`} aria-label={t('brand.preview')}>
        <h3 className="size-lead">{t('brand.preview')}</h3>
        {chosen !== null && notes.length > 0 && (
          <p className="dim lines" role="status">
            {notes.join('\n')}
          </p>
        )}
        <Scheme
          title={t('brand.light')}
          {...{ name, logo, filled, ink, onInk }}
          surface="#ffffff"
          text="#171717"
          accent={colors.light}
        />
        <Scheme
          title={t('brand.dark')}
          {...{ name, logo, filled, ink, onInk }}
          surface="#161616"
          text="#ededed"
          accent={colors.dark}
        />
        <MailSample name={name} logo={logo} zone={zone} footer={footer} accent={filled} />
      </section>
    </div>
  )
}

function Logo({ logo }: { logo: string | null }) {
  const t = useT()
  const input = useRef<HTMLInputElement>(null)
  const save = async (picture: string) => {
    try {
      keep(await call(settings.saveLogo, { body: { picture } }))
      notify('good', t('brand.logoSaved'))
      await refresh(settings.audit)
    } catch (error) {
      notify('bad', fieldTexts(error)['picture'] ?? failureText(error))
    }
  }
  return (
    <section className="card stack" aria-label={t('brand.logo')} style={{ padding: '1rem 1.25rem', gap: '0.6rem' }}>
      <h3 className="size-lead">{t('brand.logo')}</h3>
      <p className="dim">{t('brand.logoHelp')}</p>
      <div className="row" style={{ gap: '0.75rem' }}>
        <img src={logo ?? '/icon.svg'} alt="" width={48} height={48} className={classes.logo} />
        <May make={settings.saveLogo}>
          <input
            ref={input}
            type="file"
            hidden
            accept="image/png,image/svg+xml,image/webp"
            aria-label={t('brand.upload')}
            onChange={event => {
              const [file] = event.currentTarget.files ?? []
              event.currentTarget.value = ''
              if (file) void pictureOf(file).then(save)
            }}
          />
          <Button variant="default" onClick={() => input.current?.click()}>
            {t('brand.upload')}
          </Button>
          {logo !== null && (
            <Button variant="subtle" color="gray" onClick={() => void save('')}>
              {t('brand.remove')}
            </Button>
          )}
        </May>
      </div>
    </section>
  )
}

/** A file's content in base64. */
async function pictureOf(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer())
  return btoa(Array.from(bytes, byte => String.fromCharCode(byte)).join(''))
}

type Sample = { name: string; logo: string | null; accent: string }
type SchemeProps = Sample & { title: string; surface: string; text: string; filled: string; ink: string; onInk: string }

const Name = ({ name, picture }: { name: string; picture: string | null }) => (
  <span className={classes.name}>
    {picture && <img src={picture} alt="" width={22} height={22} className={classes.logo} />}
    {name}
  </span>
)

function Scheme({ name, logo, title, surface, text, accent, filled, ink, onInk }: SchemeProps) {
  const t = useT()
  const colors = {
    '--surface': surface,
    '--text': text,
    '--accent': accent,
    '--filled': filled,
    '--ink': ink,
    '--on-ink': onInk
  }
  return (
    <figure className={classes.sample} style={colors as CSSProperties}>
      <figcaption className="dim size-label">{title}</figcaption>
      <div className={classes.page}>
        <Name name={name} picture={logo ?? '/icon.svg'} />
        <div className={classes.band}>{t('brand.band')}</div>
        <span className="row" style={{ gap: '0.75rem' }}>
          <span className={classes.button}>{t('brand.button')}</span>
          <span className={classes.link}>{t('brand.link')}</span>
        </span>
      </div>
    </figure>
  )
}

function MailSample({ name, logo, accent, zone, footer }: Sample & { zone: string; footer: string }) {
  const t = useT()
  const colors = { '--surface': '#f9fafb', '--text': '#101828', '--filled': accent }
  return (
    <figure className={classes.sample} style={colors as CSSProperties}>
      <figcaption className="dim size-label">{t('brand.mail')}</figcaption>
      <div className={classes.page}>
        <Name name={name} picture={logo?.endsWith('.png') ? logo : null} />
        <p>{t('brand.mailDate', { date: dateIn(zone) })}</p>
        <span className={classes.button}>{t('brand.button')}</span>
        <p className={`lines ${classes.foot}`}>
          {[`${name}, ${window.location.origin}`, footer].filter(Boolean).join('\n')}
        </p>
      </div>
    </figure>
  )
}

/** As mails write it. A zone that is being typed may not exist yet. */
function dateIn(timeZone: string): string {
  const at = new Date()
  try {
    const parts = new Intl.DateTimeFormat('en-GB', { timeZone, timeZoneName: 'short' }).formatToParts(at)
    const zone = parts.find(({ type }) => type === 'timeZoneName')?.value ?? ''
    return `${at.toLocaleString('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' })} ${zone}`
  } catch {
    return '–'
  }
}
