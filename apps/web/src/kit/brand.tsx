import type { Brand } from '@netlet/contract'
import { useSyncExternalStore } from 'react'

/** The server puts the shop's brand into the page, so that the first paint has it; without it, it is the default. */
const written = document.querySelector<HTMLMetaElement>('meta[name="shop"]')?.content

let brand: Brand = written ? (JSON.parse(written) as Brand) : { name: 'Netlet', accent: '', logo: null }
const listeners = new Set<() => void>()

export const shopName = (): string => brand.name

export const useBrand = (): Brand =>
  useSyncExternalStore(
    listener => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => brand
  )

/** Shows a brand that was just saved. @param sheet the accent's style sheet; '' for the default accent */
export function showBrand(now: Brand, sheet: string): void {
  brand = now
  const style = document.getElementById('accent') ?? document.head.appendChild(document.createElement('style'))
  style.id = 'accent'
  style.textContent = sheet
  document.querySelector('link[rel="icon"]')?.setAttribute('href', now.logo ?? '/icon.svg')
  for (const listener of listeners) listener()
}

/** The logo with the name. */
export function BrandName({ size = 26 }: { size?: number }) {
  const { name, logo } = useBrand()
  return (
    <>
      <img src={logo ?? '/icon.svg'} alt="" width={size} height={size} />
      {name}
    </>
  )
}
