/** The pictures of the demo shelves, included here so that the first run needs no network. */
const frame = (from: string, to: string, drawing: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1200 600" role="img"><defs><linearGradient id="g" x1="0" y1="0" x2="1" y2="1"><stop offset="0" stop-color="${from}"/><stop offset="1" stop-color="${to}"/></linearGradient></defs><rect width="1200" height="600" fill="url(#g)"/><g fill="none" stroke="#fff" stroke-width="6" stroke-linecap="round" stroke-linejoin="round" opacity=".9">${drawing}</g></svg>`

const rack = [0, 1, 2, 3]
  .map(
    row =>
      `<rect x="420" y="${130 + row * 90}" width="360" height="66" rx="10"/><path d="M460 ${163 + row * 90}h120M690 ${163 + row * 90}h4M730 ${163 + row * 90}h4"/>`
  )
  .join('')

export const pictures: Record<string, string> = {
  isp: frame(
    '#0b6b5d',
    '#0a3c52',
    '<circle cx="600" cy="300" r="36"/><path d="M510 210a127 127 0 0 0 0 180M690 210a127 127 0 0 1 0 180M446 146a218 218 0 0 0 0 308M754 146a218 218 0 0 1 0 308M600 336v150"/>'
  ),
  datacenter: frame('#27407a', '#121d3f', rack),
  residential: frame(
    '#9a4b1f',
    '#5a2140',
    '<path d="M400 310 600 150l200 160M450 275v185h300V275M560 460V350h80v110"/><path d="M700 230v-70h40v102"/>'
  )
}
