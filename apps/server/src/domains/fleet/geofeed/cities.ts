/** Cities that servers stand in, with country (ISO 3166-1) and region (ISO 3166-2): what stands for the place of servers until an operator has said it. */
const CITIES = `
Amsterdam NL NL-NH|Ashburn US US-VA|Athens GR GR-I|Atlanta US US-GA|Auckland NZ NZ-AUK|Bangkok TH TH-10|Barcelona ES ES-B
Beijing CN CN-BJ|Berlin DE DE-BE|Bogota CO CO-DC|Boston US US-MA|Brussels BE BE-BRU|Bucharest RO RO-B|Budapest HU HU-BU
Buenos Aires AR AR-C|Chicago US US-IL|Copenhagen DK DK-84|Dallas US US-TX|Denver US US-CO|Dubai AE AE-DU|Dublin IE IE-D
Frankfurt DE DE-HE|Hamburg DE DE-HH|Helsinki FI FI-18|Hong Kong HK |Houston US US-TX|Istanbul TR TR-34|Jakarta ID ID-JK
Johannesburg ZA ZA-GP|Kyiv UA UA-30|Las Vegas US US-NV|Lisbon PT PT-11|London GB GB-LND|Los Angeles US US-CA|Madrid ES ES-MD
Manchester GB GB-MAN|Manila PH PH-00|Marseille FR FR-13|Melbourne AU AU-VIC|Mexico City MX MX-CMX|Miami US US-FL|Milan IT IT-MI
Montreal CA CA-QC|Mumbai IN IN-MH|Munich DE DE-BY|New Delhi IN IN-DL|New York US US-NY|Osaka JP JP-27|Oslo NO NO-03|Paris FR FR-75C
Phoenix US US-AZ|Prague CZ CZ-10|Riga LV LV-RIX|Rome IT IT-RM|San Francisco US US-CA|San Jose US US-CA|Santiago CL CL-RM
Sao Paulo BR BR-SP|Seattle US US-WA|Seoul KR KR-11|Shanghai CN CN-SH|Singapore SG |Sofia BG BG-22|Stockholm SE SE-AB|Sydney AU AU-NSW
Taipei TW TW-TPE|Tallinn EE EE-37|Tel Aviv IL IL-TA|Tokyo JP JP-13|Toronto CA CA-ON|Vancouver CA CA-BC|Vienna AT AT-9
Vilnius LT LT-VL|Warsaw PL PL-14|Washington US US-DC|Zurich CH CH-ZH`

export type City = { city: string; country: string; region: string }

const known: readonly City[] = CITIES.trim()
  .split(/[|\n]/)
  .map(entry => {
    const [, city = '', country = '', region = ''] = /^(.+?) ([A-Z]{2}) (\S*)$/.exec(entry) ?? []
    return { city, country, region }
  })

/** The city that a name has in it: 'New York' of 'ISP · New York 2'. Undefined where there is none, or several. */
export function cityIn(name: string): City | undefined {
  const words = ` ${name
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .toLowerCase()} `
  const found = known.filter(({ city }) => words.includes(` ${city.toLowerCase()} `))
  return found.length === 1 ? found[0] : undefined
}
