import { BROWSER_MAP, getParser } from 'bowser'

/** 'Chrome on Linux', from the user agent. Other programs keep their own name, shortened. */
export function deviceName(userAgent: string): string {
  const parser = getParser(userAgent)
  const names = [parser.getBrowserName(), parser.getOSName()].filter(Boolean)
  return names.length > 0 ? names.join(' on ') : userAgent.slice(0, 60)
}

const BROWSERS = new Set(Object.values(BROWSER_MAP))

/** 'Chrome' or 'other': a small set of names for any user agent. */
export function browserName(userAgent: string | undefined): string {
  const name = userAgent ? getParser(userAgent).getBrowserName() : ''
  return BROWSERS.has(name) ? name : 'other'
}
