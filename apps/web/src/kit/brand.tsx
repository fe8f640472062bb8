import type { Brand } from '@netlet/contract'
import { useSyncExternalStore } from 'react'

/** The server puts the shop's brand into the page, so that the first paint has it; without it, it is the default. */
const written = document.querySelector<HTMLMetaElement>('meta[name=shop]')?.content

let brand: Brand = written ? (JSON.parse(written) as Brand) : { name: 'Netlet', accent: '', logo: null }
const listeners = new Set<() => void>()

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const useBrand = (): Brand => useSyncExternalStore(subscribe, () => brand)

/** Shows a brand that was just saved. */
export function setBrand(now: Brand): void {
  brand = now
  for (const listener of listeners) listener()
}

/** The logo with the name. */
export function BrandName() {
  const { name, logo } = useBrand()
  return (
    <>
      <img src={logo ?? '/icon.svg'} alt="" width={26} height={26} />
      {name}
    </>
  )
}
